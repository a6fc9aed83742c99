package scenario

import (
	"reflect"
	"slices"
	"strings"
)

// FindKey returns the dotted key that a name stands for, for [Override.Key]: a
// name with a dot, or one at the top of the format, is a key itself; any other is
// the last word of a key, of the one that lies least deep where several end so:
// rate is workload.rate, producers is workload.producers and not
// workload.connections.producers. option.NAME and setting.NAME are an option of
// the driver and a line of the broker's configuration.
//
// Whether the key exists is [Scenario.Apply]'s to say where the name has a dot.
// Errors are of type [*Error], without a position.
func FindKey(name string) (string, error) {
	if group, rest, dotted := strings.Cut(name, "."); dotted {
		switch group {
		case "option":
			return "target.options." + rest, nil
		case "setting":
			return "target.settings." + rest, nil
		}
		return name, nil
	}
	root := reflect.TypeFor[Scenario]()
	plain := strings.TrimSuffix(name, "[]")
	found := elsewhere(root, "", plain)
	if len(found) == 0 {
		var words []string
		for _, key := range allKeys(root, "") {
			words = append(words, lastWord(key))
		}
		hint := "write its dotted key, such as workload.rate; see sixnines schema"
		if n := nearest(name, words...); n != "" {
			hint = "did you mean " + n + "?"
		}
		return "", wrong("no field is called "+quote(name), hint)
	}
	depth := func(key string) int { return strings.Count(key, ".") }
	least := slices.MinFunc(found, func(a, b string) int { return depth(a) - depth(b) })
	var alike []string
	for _, key := range found {
		if depth(key) == depth(least) {
			alike = append(alike, key)
		}
	}
	if len(alike) > 1 {
		return "", wrong("several fields are called "+quote(name), "write one of "+strings.Join(alike, ", "))
	}
	return least + strings.TrimPrefix(name, plain), nil
}

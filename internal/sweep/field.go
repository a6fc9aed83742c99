package sweep

import (
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"sixnines/internal/spell"
	"sixnines/internal/strict"
	"sixnines/scenario"
)

// FindKey returns the dotted key that a name stands for, for [scenario.Override.Key]. A
// name with a dot, or one at the top level of the format, is a key itself. Any other name
// is the last word of a key; if several keys end in it, the least deep one is meant: rate
// is workload.rate, producers is workload.producers and not
// workload.connections.producers. option.NAME and setting.NAME are an option of the
// driver and a line of the broker's configuration.
//
// A key with a dot is not checked here; [scenario.Scenario.Apply] does that. Errors are of
// type [*scenario.Error], without a position.
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
	root := reflect.TypeFor[scenario.Scenario]()
	plain := strings.TrimSuffix(name, "[]")
	found := strict.EndingIn(root, plain)
	if len(found) == 0 {
		var words []string
		for _, key := range strict.Keys(root, "") {
			words = append(words, strict.LastWord(key))
		}
		hint := "write its dotted key, such as workload.rate; see sixnines schema"
		if n := spell.Nearest(name, words); n != "" {
			hint = "did you mean " + n + "?"
		}
		return "", noField("no field is called "+strict.Quote(name), hint)
	}
	// What the network and the fleet have by the same name, such as a rate, is meant only with a dot: it came later.
	if others := slices.DeleteFunc(slices.Clone(found), func(key string) bool {
		return strings.HasPrefix(key, "network.") || strings.HasPrefix(key, "fleet.")
	}); len(others) > 0 {
		found = others
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
		return "", noField("several fields are called "+strict.Quote(name), "write one of "+strings.Join(alike, ", "))
	}
	return least + strings.TrimPrefix(name, plain), nil
}

// canonical returns a value of the field at a dotted key in the field's own notation, and
// adds a missing unit: 1000 becomes 1000/s for a rate, 1K becomes 1KiB for a size, 20k
// becomes 20000 for a number. Other texts are returned unchanged.
func canonical(key, text string) string {
	sizes := []reflect.Type{reflect.TypeFor[scenario.Size](), reflect.TypeFor[scenario.Sizes]()}
	switch t, durations := typeAt(key), reflect.TypeFor[time.Duration](); {
	case t == reflect.TypeFor[scenario.Rate]() && !strings.Contains(text, "/"):
		if r, err := scenario.ParseRate(text); err == nil {
			return r.String()
		}
	case slices.Contains(sizes, t) && !strings.HasSuffix(text, "B"):
		if s, err := scenario.ParseSize(text); err == nil {
			return s.String()
		}
	case t == durations && strings.Contains(text, " "):
		if d, err := spell.ParseDuration(text); err == nil {
			return spell.Written(d)
		}
	case t != nil && t != sizes[0] && t != durations && (t.Kind() == reflect.Int || t.Kind() == reflect.Uint64):
		if n, err := spell.Whole(text); err == nil {
			return strconv.FormatUint(n, 10)
		}
	}
	return text
}

// typeAt returns the type of the field at a dotted key, or nil.
func typeAt(key string) reflect.Type {
	t := reflect.TypeFor[scenario.Scenario]()
	for word := range strings.SplitSeq(key, ".") {
		if t == reflect.TypeFor[scenario.Workloads]() {
			t = reflect.TypeFor[scenario.NamedWorkload]()
			continue
		}
		if !strict.IsMapping(t) {
			return nil
		}
		f, ok := strict.FieldOf(strict.StructOf(t), word)
		if !ok {
			return nil
		}
		t = f.Type
	}
	return t
}

func noField(cause, hint string) error { return &scenario.Error{Cause: cause, Hint: hint} }

// Blank returns an otherwise empty scenario that has the workload named by the key, so that an
// override of the key applies to it.
func Blank(key string) *scenario.Scenario {
	s := &scenario.Scenario{}
	if rest, of := strings.CutPrefix(key, "workloads."); of {
		name, _, _ := strings.Cut(rest, ".")
		s.Workloads = scenario.Workloads{{Name: name}}
	}
	return s
}

package brokers

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// ErrSetting says that a setting of a broker is unknown, has a wrong value or may
// not be set by the user.
var ErrSetting = errors.New("wrong setting")

// refuse returns an error that wraps [ErrSetting] if one of the settings is among
// ours: with another value the broker would listen or run elsewhere, and this package
// could neither wait for it nor stop it. An asterisk at the end of a name matches any
// rest; case does not matter.
func refuse(settings map[string]string, ours ...string) error {
	for _, name := range slices.Sorted(maps.Keys(settings)) {
		if slices.ContainsFunc(ours, func(own string) bool {
			begin, all := strings.CutSuffix(own, "*")
			return strings.EqualFold(name, own) || all && len(name) >= len(begin) && strings.EqualFold(name[:len(begin)], begin)
		}) {
			return fmt.Errorf("%w %s: sixnines decides where a broker listens and how its processes run", ErrSetting, name)
		}
	}
	return nil
}

// flags turns settings into arguments NAME=VALUE, ordered by name. Boolean flags need
// the value in the same word.
func flags(dashes string, settings map[string]string) []string {
	var words []string
	for _, name := range slices.Sorted(maps.Keys(settings)) {
		words = append(words, dashes+name+"="+settings[name])
	}
	return words
}

// among returns the settings with the given names that are set.
func among(settings map[string]string, names ...string) map[string]string {
	found := maps.Clone(settings)
	maps.DeleteFunc(found, func(name, _ string) bool { return !slices.Contains(names, name) })
	return found
}

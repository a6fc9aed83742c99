package brokers

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// ErrSetting says that a setting of a broker is unknown, has a wrong value or is
// not for others to choose.
var ErrSetting = errors.New("wrong setting")

// refuse returns an error that wraps [ErrSetting] if one of the settings is among
// ours: with another value the broker would listen or run elsewhere, and could be
// neither awaited nor stopped. A name that ends with an asterisk stands for all that
// begin with it; case does not matter.
func refuse(settings map[string]string, ours ...string) error {
	for _, name := range slices.Sorted(maps.Keys(settings)) {
		if slices.ContainsFunc(ours, func(own string) bool {
			begin, all := strings.CutSuffix(own, "*")
			return strings.EqualFold(name, own) || all && len(name) >= len(begin) && strings.EqualFold(name[:len(begin)], begin)
		}) {
			return fmt.Errorf("%w %s: sixnines itself decides where a broker listens and how its processes run", ErrSetting, name)
		}
	}
	return nil
}

// flags makes arguments of settings, in the order of their names. Values stand in
// the same word, as flags that are true or false want it.
func flags(dashes string, settings map[string]string) []string {
	var words []string
	for _, name := range slices.Sorted(maps.Keys(settings)) {
		words = append(words, dashes+name+"="+settings[name])
	}
	return words
}

// among returns the settings called names, as far as there are such.
func among(settings map[string]string, names ...string) map[string]string {
	found := maps.Clone(settings)
	maps.DeleteFunc(found, func(name, _ string) bool { return !slices.Contains(names, name) })
	return found
}

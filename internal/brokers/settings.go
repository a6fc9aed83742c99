package brokers

import (
	"maps"
	"slices"
)

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

package scenario

import (
	"reflect"
	"strings"
)

var settingsType = reflect.TypeFor[map[string]string]()

// checkSetting refuses what cannot be one line of a configuration.
func checkSetting(name, value string) error {
	const hint = "a setting is one line of the broker's configuration"
	switch {
	case name == "":
		return wrong("a setting has no name", hint)
	case strings.ContainsAny(name, "\x00\r\n"):
		return wrong("the name "+quote(name)+" is not one line", hint)
	case strings.ContainsAny(value, "\x00\r\n"):
		return wrong("the value of "+quote(name)+" is not one line", hint)
	}
	return nil
}

// SecretSetting reports whether a setting of that name holds what must not be
// shown, as far as names tell.
func SecretSetting(name string) bool {
	name = strings.ToLower(name)
	if name == "user" || strings.HasPrefix(name, "user ") {
		return true // Redis's, which has the password among its words
	}
	for _, word := range []string{"pass", "secret", "token", "credential", "jaas", "private_key", "masterauth", "erlang.cookie"} {
		if strings.Contains(name, word) {
			return true
		}
	}
	return false
}

// MaskSettings returns the settings as they may be shown: a copy in which what
// is secret by its name is masked.
func MaskSettings(settings map[string]string) map[string]string {
	if settings == nil {
		return nil
	}
	shown := make(map[string]string, len(settings))
	for name, value := range settings {
		if SecretSetting(name) {
			value = hidden
		}
		shown[name] = value
	}
	return shown
}

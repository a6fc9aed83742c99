package secret

import (
	"strings"
)

// Setting reports whether a setting of that name holds what must not be
// shown, as far as names tell.
func Setting(name string) bool {
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

// Mask returns the settings as they may be shown: a copy in which what
// is secret by its name is masked.
func Mask(settings map[string]string) map[string]string {
	if settings == nil {
		return nil
	}
	shown := make(map[string]string, len(settings))
	for name, value := range settings {
		if Setting(name) {
			value = hidden
		}
		shown[name] = value
	}
	return shown
}

package secret

import (
	"strings"
)

// Spelled returns which secret the value that is given to a key spells out: the name of
// the option or the setting, or the login in the address; empty: none.
func Spelled(key, value string, secret func(option string) bool) string {
	name := key[strings.LastIndexByte(key, '.')+1:]
	switch rest, isSetting := strings.CutPrefix(key, "target.settings."); {
	case key == "target.url":
		for _, u := range Logins(value) {
			if login := value[u[0]:u[1]]; !OnlyVariables.MatchString(login) && (strings.Contains(login, ":") || secret("token")) {
				if _, password, has := strings.Cut(login, ":"); !has || !OnlyVariables.MatchString(password) {
					return "the login in the address"
				}
			}
		}
		for _, m := range Parameter.FindAllStringSubmatch(value, -1) {
			if secret(m[2]) && m[3] != "" && !OnlyVariables.MatchString(m[3]) {
				return "the login in the address"
			}
		}
		return ""
	case isSetting && Setting(rest):
		name = rest
	case key == KeyPassword:
	case isSetting || !MayRefer(key) || !secret(name):
		return ""
	}
	if value == "" || Elsewhere(value) || OnlyVariables.MatchString(value) {
		return ""
	}
	return name
}

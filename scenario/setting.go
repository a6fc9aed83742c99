package scenario

import (
	"reflect"
	"strings"
)

var settingsType = reflect.TypeFor[map[string]string]()

// checkSetting returns an error for a name or value that does not fit on one line of a
// configuration file.
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

package secret

import (
	"regexp"
	"strings"
)

// How a text begins that says where a value is, and how one that begins so and is none.
const (
	Environment = "env:"
	File        = "@"
	Literal     = "literal:"
)

var (
	// OnlyVariables is how a text of variables, and colons between them, looks.
	OnlyVariables = regexp.MustCompile(`^(\$\{[A-Za-z_][A-Za-z0-9_]*(:-[^}]*)?\}|:)+$`)
	// OneVariable is a variable with its name.
	OneVariable = regexp.MustCompile(`\$\{([A-Za-z_][A-Za-z0-9_]*)(:-[^}]*)?\}`)
)

// ofCommand matches the keys of commands that an action runs.
var ofCommand = regexp.MustCompile(`^actions\[[0-9]+\]\.exec\.(do|undo)(\[|$)`)

// KeepsVariables reports whether a key's variables are written down instead of
// their values.
func KeepsVariables(key string) bool {
	for _, prefix := range []string{"target.url", "target.tls.", "target.options.", "target.settings.", "description"} {
		if key == prefix || strings.HasSuffix(prefix, ".") && strings.HasPrefix(key, prefix) {
			return true
		}
	}
	if ofCommand.MatchString(key) {
		return true
	}
	_, rest, _ := strings.Cut(strings.TrimPrefix(key, "workloads."), ".")
	return strings.HasPrefix(key, "workloads.") && strings.HasPrefix(rest, "options.")
}

// KeyPassword is the key of the password that opens a client's key.
const KeyPassword = "target.tls.key_password"

// MayRefer reports whether the value at a key may be a reference.
func MayRefer(key string) bool {
	if name, ok := strings.CutPrefix(key, "target.settings."); ok {
		return Setting(name)
	}
	if key == KeyPassword {
		return true
	}
	return KeepsVariables(key) && !ofCommand.MatchString(key) && !strings.HasPrefix(key, "target.url") && !strings.HasPrefix(key, "target.tls.") && key != "description"
}

// IsReference reports whether a text begins as one of the references does.
func IsReference(text string) bool {
	return strings.HasPrefix(text, Environment) || strings.HasPrefix(text, File) || strings.HasPrefix(text, Literal)
}

// Elsewhere reports whether a text says where a value is, and so is none.
func Elsewhere(text string) bool {
	return IsReference(text) && !strings.HasPrefix(text, Literal)
}

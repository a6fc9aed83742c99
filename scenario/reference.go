package scenario

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"strings"
	"unicode/utf8"
)

// Options of the driver, and settings of a broker that are secret by their names, may
// say where their value is instead of what it is:
//
//	env:NAME        the environment variable NAME, which must be set
//	@FILE           the text of the file, without the end of its last line
//	literal:TEXT    the text, where it begins with @, env: or literal:
//
// A text that a variable gave (${NAME}) is none of these. Like variables, references
// and not what they give are written down.
const (
	fromEnvironment = "env:"
	fromFile        = "@"
	literally       = "literal:"
	// mostSecret is how long a file may be whose text is an option's.
	mostSecret = 64 << 10
)

// mayRefer reports whether the value at a key may be a reference.
func mayRefer(key string) bool {
	if name, ok := strings.CutPrefix(key, "target.settings."); ok {
		return SecretSetting(name)
	}
	return keepsVariables(key) && !strings.HasPrefix(key, "target.url") && !strings.HasPrefix(key, "target.tls.") && key != "description"
}

// isReference reports whether a text begins as one of the references does.
func isReference(text string) bool {
	return strings.HasPrefix(text, fromEnvironment) || strings.HasPrefix(text, fromFile) || strings.HasPrefix(text, literally)
}

// refersElsewhere reports whether a text says where a value is, and so is none.
func refersElsewhere(text string) bool {
	return isReference(text) && !strings.HasPrefix(text, literally)
}

// dereference returns what a reference gives. Errors name the variable or the file,
// and no value.
func (env Environment) dereference(text string) (string, error) {
	if rest, ok := strings.CutPrefix(text, literally); ok {
		return env.replace(rest, nil)
	}
	if name, ok := strings.CutPrefix(text, fromEnvironment); ok {
		if !variableName.MatchString(name) {
			return "", wrong("what follows env: is no variable's name", "write env:NAME, or literal:env:… for a text that begins so")
		}
		return env.value(name, "write literal:env:"+name+" for that text")
	}
	file, err := env.replace(strings.TrimPrefix(text, fromFile), nil)
	if err != nil {
		return "", err
	}
	const hint = "write literal:@… for a text that begins with @"
	value, err := readSecret(file)
	switch {
	case file == "":
		return "", wrong("what follows @ is no file's name", "write @FILE; "+hint)
	case errors.Is(err, fs.ErrNotExist):
		return "", wrong("there is no file "+quote(file)+" to read it from", "name the file after @; "+hint)
	case err != nil:
		var of *fs.PathError
		if errors.As(err, &of) {
			err = of.Err
		}
		return "", wrong("the file "+quote(file)+" cannot be read: "+err.Error(), "check the file and its permissions; "+hint)
	case value == "":
		return "", wrong("the file "+quote(file)+" is empty", "write the value into it, on one line")
	}
	return value, nil
}

// readSecret returns the text of a file without the end of its last line.
func readSecret(name string) (string, error) {
	f, err := os.Open(name)
	if err != nil {
		return "", err
	}
	defer f.Close() // read only: nothing to lose
	text, err := io.ReadAll(io.LimitReader(f, mostSecret+1))
	switch {
	case err != nil:
		return "", err
	case len(text) > mostSecret:
		return "", errors.New("it is longer than 64 KiB")
	case !utf8.Valid(text) || bytes.IndexByte(text, 0) >= 0:
		return "", errors.New("it is no text in UTF-8")
	}
	return strings.TrimSuffix(strings.TrimSuffix(string(text), "\n"), "\r"), nil
}

package scenario

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"strings"
	"unicode/utf8"

	"sixnines/internal/secret"
)

// Options of the driver, and settings of a broker whose names mark them as secret, may name
// the place of their value instead of the value:
//
//	env:NAME        the environment variable NAME, which must be set
//	@FILE           the text of the file, without the end of its last line
//	literal:TEXT    the text, where it begins with @, env: or literal:
//
// A text that came from a variable (${NAME}) is not a reference. Results and normalised
// scenarios contain the references, like variables, and not their values.

// mostSecret is the size limit, in bytes, of a file that @FILE names.
const mostSecret = 64 << 10

// dereference returns the value that a reference names. Errors contain the name of the
// variable or the file, never a value.
func (env Environment) dereference(text string) (string, error) {
	if rest, ok := strings.CutPrefix(text, secret.Literal); ok {
		return env.replace(rest, nil)
	}
	if name, ok := strings.CutPrefix(text, secret.Environment); ok {
		if !variableName.MatchString(name) {
			return "", wrong("the text after env: is not the name of a variable", "write env:NAME, or literal:env:… for text that begins with env:")
		}
		return env.value(name, "write literal:env:"+name+" for that text")
	}
	file, err := env.replace(strings.TrimPrefix(text, secret.File), nil)
	if err != nil {
		return "", err
	}
	const hint = "write literal:@… for text that begins with @"
	value, err := readSecret(file)
	switch {
	case file == "":
		return "", wrong("the text after @ is not the name of a file", "write @FILE; "+hint)
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

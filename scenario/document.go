package scenario

import (
	"errors"
	"fmt"
	"io"
	"os"
	"reflect"

	"sixnines/internal/strict"
)

// ParseFile reads a scenario from a YAML file, as [Parse] does.
func ParseFile(path string) (*Scenario, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("scenario: %w", err)
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, MaxText+1))
	if err != nil {
		return nil, fmt.Errorf("scenario: read %s: %w", path, err)
	}
	return Parse(path, text)
}

// Parse reads a scenario from YAML: one document, in UTF-8, of at most
// [MaxText] bytes, without anchors, aliases, tags and merge keys. name is the
// file's name in errors, which are of type [Errors]: everything wrong at once,
// each with its position. Variables are those of the process's environment, see
// [Environment].
//
// Keys that the text leaves out stay zero; see [Scenario.Normalise]. [Scenario.Validate]
// checks whether the values fit together, after flags have been applied.
func Parse(name string, text []byte) (*Scenario, error) {
	return ParseIn(os.LookupEnv, name, text)
}

// ParseIn is [Parse] with variables from env instead of the process's environment.
func ParseIn(env Environment, name string, text []byte) (*Scenario, error) {
	root, fault := document(name).Root(text)
	return decoded(env, name, root, fault, false)
}

// ParseClosed is [ParseIn] for a text from somebody who may not read files of this machine: a value that is to be
// read from one (@FILE) is an error, which wraps [ErrFile].
func ParseClosed(env Environment, name string, text []byte) (*Scenario, error) {
	root, fault := document(name).Root(text)
	s, err := decoded(env, name, root, fault, true)
	if all := (Errors)(nil); errors.As(err, &all) {
		for _, e := range all {
			if e.Cause == errFile {
				return nil, fmt.Errorf("%w: %w", ErrFile, err)
			}
		}
	}
	return s, err
}

// ErrFile is wrapped by errors of [ParseClosed] about files.
var ErrFile = errors.New("the text names a file to read")

// errFile is the cause of such an error.
const errFile = "its value is to be read from a file of this machine"

// document returns the rules that the text of a scenario must keep.
func document(name string) strict.Document {
	return strict.Document{Name: name, Kind: "scenario", Most: MaxText, Empty: "write {} for a run with every default"}
}

// decoded decodes a text's root node into a scenario, or returns the text's fault.
func decoded(env Environment, name string, root *strict.Node, fault *strict.Error, closed bool) (*Scenario, error) {
	s := &Scenario{source: &source{file: name, at: map[string]strict.Position{}, written: map[string]written{}}}
	d := newDecoder(name, env, s.source)
	d.closed = closed
	if fault != nil {
		d.Errors = append(d.Errors, *fault)
	} else {
		d.Decode(root, reflect.ValueOf(s).Elem(), "")
	}
	if len(d.Errors) > 0 {
		return nil, d.errors()
	}
	_, given := s.source.at[warmupKey]
	s.Phases.NoWarmup = given && s.Phases.Warmup == 0
	return s, nil
}

const warmupKey = "phases.warmup"

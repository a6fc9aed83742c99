package study

import (
	"embed"
	"errors"
	"fmt"
	"path"
	"reflect"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"sixnines/internal/spell"
	"sixnines/internal/strict"
	"sixnines/scenario"
)

// FileName is the name of a study's file in its directory.
const FileName = "study.yaml"

// maxText is the longest text of a study, in bytes.
const maxText = 4 << 20

//go:embed data
var data embed.FS

// ErrUnknown is wrapped by errors about an unknown name of a study.
var ErrUnknown = errors.New("there is no such study")

// Names returns the names of the studies that are built in, in alphabetical order.
func Names() []string {
	entries, _ := data.ReadDir("data") // embedded, so it exists
	var all []string
	for _, e := range entries {
		all = append(all, e.Name())
	}
	return all
}

// List returns the studies that are built in, by name.
func List() ([]*Study, error) {
	var all []*Study
	for _, name := range Names() {
		s, err := Find(name)
		if err != nil {
			return nil, err
		}
		all = append(all, s)
	}
	return all, nil
}

// Find returns the study of that name, decoded and checked. An error wraps
// [ErrUnknown] if it does not exist.
func Find(name string) (*Study, error) {
	if !slices.Contains(Names(), name) {
		hint := "there are " + strings.Join(Names(), ", ")
		if near := spell.Nearest(name, Names()); near != "" {
			hint = "did you mean " + near + "? " + hint
		}
		return nil, fmt.Errorf("%w: %q; %s", ErrUnknown, name, hint)
	}
	file := path.Join(name, FileName)
	text, err := data.ReadFile("data/" + file)
	if err != nil {
		return nil, fmt.Errorf("study: %w", err)
	}
	return Parse(file, text)
}

// Parse reads a study from YAML and checks all of it: keys, references, and each scenario
// of each length. name is the file name in errors. Errors are of the type
// [scenario.Errors] and have positions.
func Parse(name string, text []byte) (*Study, error) {
	s := &Study{file: name, text: text}
	root, fault := strict.Document{Name: name, Kind: "study", Most: maxText, Empty: "sixnines study export NAME DIR writes one to copy"}.Root(text)
	if fault != nil {
		return nil, located([]strict.Error{*fault})
	}
	s.root = root
	if err := s.exampled(); err != nil {
		return nil, err
	}
	if err := decode(name, s.root, "", s); err != nil {
		return nil, err
	}
	for _, each := range []func() error{s.expand, s.check, s.checkScenarios, s.checkBeside} {
		if err := each(); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// Text returns the study's text as it was read. The caller must not change it.
func (s *Study) Text() []byte { return s.text }

// decode decodes the node at the key into the struct that into points to.
func decode(file string, n *strict.Node, key string, into any) error {
	v := reflect.ValueOf(into).Elem()
	d := &strict.Decoder{File: file, Whole: "the study", Root: v.Type()}
	d.Own = func(n *strict.Node, v reflect.Value, _ strict.Field, key string, depth int) bool {
		switch x := v.Addr().Interface().(type) {
		case *Layer: // checked as part of the scenario
			if n.Tag != "!!null" {
				*x = *n
			}
		case *Ranges:
			for name, list := range d.Entries(n, key, rangesHint, depth) {
				one := Range{Name: name.Value}
				d.Value(list, reflect.ValueOf(&one.Values).Elem(), strict.Field{Doc: rangesHint}, strict.Join(key, name.Value), depth+1)
				if list.Kind == yaml.SequenceNode && len(one.Values) == 0 {
					d.Fail(list, key, name.Value+" has no values", rangesHint)
				}
				*x = append(*x, one)
			}
		default:
			return false
		}
		return true
	}
	d.Decode(n, v, key)
	if len(d.Errors) > 0 {
		strict.Sort(d.Errors)
		return located(d.Errors)
	}
	return nil
}

const rangesHint = "write names and lists of their values, such as {rate: [1000, 2000]}"

// located converts errors of a text to errors of scenarios.
func located(all []strict.Error) scenario.Errors {
	var errs scenario.Errors
	for _, e := range all {
		errs = append(errs, &scenario.Error{File: e.File, Line: e.Line, Column: e.Column, Key: e.Key, Cause: e.Cause, Hint: e.Hint})
	}
	return errs
}

// at returns the position of a node in the text, given as keys of mappings and indices of
// lists. If it does not exist, the position is that of its nearest existing parent.
func (s *Study) at(where ...any) (line, column int) {
	n := s.root
	line, column = n.Line, n.Column
	for _, step := range where {
		var next *strict.Node
		switch step := step.(type) {
		case string:
			for i := 0; n.Kind == yaml.MappingNode && i+1 < len(n.Content); i += 2 {
				if n.Content[i].Value == step {
					line, column = n.Content[i].Line, n.Content[i].Column
					next = n.Content[i+1]
				}
			}
		case int:
			if n.Kind == yaml.SequenceNode && step < len(n.Content) {
				next = n.Content[step]
				line, column = next.Line, next.Column
			}
		}
		if next == nil {
			break
		}
		n = next
	}
	return line, column
}

package study

import (
	"bytes"
	"embed"
	"errors"
	"fmt"
	"io"
	"path"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"sixnines/internal/spell"
	"sixnines/scenario"
)

// FileName is what a study's file is called in its directory.
const FileName = "study.yaml"

// maxText is the longest text of a study, in bytes.
const maxText = 4 << 20

//go:embed data
var data embed.FS

// ErrUnknown is wrapped by errors about a name that no study has.
var ErrUnknown = errors.New("there is no such study")

// Names returns the names of the studies that are built in, in alphabetical order.
func Names() []string {
	entries, _ := data.ReadDir("data") // which is there
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
// [ErrUnknown] where there is none.
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

// Parse reads a study from YAML and checks all of it: keys, references, and each
// scenario of each length. name is the file's in errors, which are of the type
// [scenario.Errors] and have positions.
func Parse(name string, text []byte) (*Study, error) {
	s := &Study{file: name, text: text}
	fail := func(line, column int, cause, hint string) error {
		return scenario.Errors{{File: name, Line: line, Column: column, Cause: cause, Hint: hint}}
	}
	if len(text) > maxText {
		return nil, fail(1, 1, fmt.Sprintf("the study is longer than %d bytes", maxText), "is it the right file?")
	}
	var doc yaml.Node
	loader, err := yaml.NewLoader(bytes.NewReader(text))
	if err == nil {
		err = loader.Load(&doc)
	}
	var load *yaml.LoadError
	switch {
	case errors.Is(err, io.EOF) || err == nil && len(doc.Content) != 1:
		return nil, fail(1, 1, "the study is empty", "sixnines study export NAME DIR writes one to copy")
	case errors.As(err, &load):
		return nil, fail(max(1, load.Mark.Line), max(1, load.Mark.Column), load.Message, "this is not YAML")
	case err != nil:
		return nil, fail(1, 1, err.Error(), "this is not YAML")
	}
	s.root = doc.Content[0]
	if err := s.exampled(); err != nil {
		return nil, err
	}
	d := decoder{file: name}
	d.known(s.root, reflect.TypeFor[Study](), "the study")
	if len(d.errs) > 0 {
		return nil, d.errs
	}
	if err := s.root.Load(s, yaml.WithKnownFields()); err != nil {
		return nil, wrongType(name, err)
	}
	for _, each := range []func() error{s.expand, s.check, s.checkScenarios} {
		if err := each(); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// Text returns the study as it was read.
func (s *Study) Text() []byte { return s.text }

// decoder finds keys that nothing reads.
type decoder struct {
	file string
	errs scenario.Errors
}

// known checks the keys of a node that becomes a value of the type, and of all below
// it. Layers are the scenario's to check, ranges have names of their own.
func (d *decoder) known(n *yaml.Node, t reflect.Type, where string) {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch {
	case t == reflect.TypeFor[Layer](), t == reflect.TypeFor[Ranges]():
	case t.Kind() == reflect.Slice && n.Kind == yaml.SequenceNode:
		for _, x := range n.Content {
			d.known(x, t.Elem(), where)
		}
	case t.Kind() == reflect.Struct && n.Kind == yaml.MappingNode:
		fields := map[string]reflect.Type{}
		var keys []string
		for i := range t.NumField() {
			if name, _, _ := strings.Cut(t.Field(i).Tag.Get("yaml"), ","); name != "" {
				fields[name] = t.Field(i).Type
				keys = append(keys, name)
			}
		}
		for i := 0; i+1 < len(n.Content); i += 2 {
			key := n.Content[i]
			field, ok := fields[key.Value]
			if !ok {
				hint := "its keys are " + strings.Join(keys, ", ")
				if near := spell.Nearest(key.Value, keys); near != "" {
					hint = "did you mean " + near + "?"
				}
				d.errs = append(d.errs, &scenario.Error{File: d.file, Line: key.Line, Column: key.Column, Cause: fmt.Sprintf("unknown key %q in %s", key.Value, where), Hint: hint})
				continue
			}
			d.known(n.Content[i+1], field, key.Value)
		}
	}
}

var goType = regexp.MustCompile(`into (study|result)\.|into `)

// wrongType turns what the YAML library says of values into errors with positions.
func wrongType(file string, err error) error {
	var many *yaml.LoadErrors
	if !errors.As(err, &many) {
		return scenario.Errors{{File: file, Line: 1, Column: 1, Cause: err.Error()}}
	}
	var all scenario.Errors
	for _, e := range many.Errors {
		all = append(all, &scenario.Error{File: file, Line: e.Mark.Line, Column: e.Mark.Column, Cause: goType.ReplaceAllString(e.Message, "into ")})
	}
	return all
}

// at returns where something stands in the text: keys of mappings and indices of
// lists. It is the nearest thing above where there is none.
func (s *Study) at(where ...any) (line, column int) {
	n := s.root
	line, column = n.Line, n.Column
	for _, step := range where {
		var next *yaml.Node
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

package scenario

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"reflect"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v4"
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
// What the text leaves out stays zero; see [Scenario.Normalise]. Whether what it
// says can be together is [Scenario.Validate]'s to judge, after flags were laid
// over it.
func Parse(name string, text []byte) (*Scenario, error) {
	return ParseIn(os.LookupEnv, name, text)
}

// ParseIn is [Parse] with an environment of its own.
func ParseIn(env Environment, name string, text []byte) (*Scenario, error) {
	root, fault := document(name, text)
	if fault != nil {
		return nil, Errors{fault}
	}
	return decode(env, name, root)
}

// decode makes a scenario of a text's root node.
func decode(env Environment, name string, root *yaml.Node) (*Scenario, error) {
	s := &Scenario{source: &source{file: name, at: map[string]position{}, written: map[string]written{}}}
	d := decoder{file: name, env: env, sources: s.source.at, written: s.source.written}
	if d.plain(root, "", 0) {
		d.mapping(root, reflect.ValueOf(s).Elem(), "", 0)
	}
	if err := d.errs.sorted(); err != nil {
		return nil, err
	}
	_, given := s.source.at[warmupKey]
	s.cold = given && s.Phases.Warmup == 0
	return s, nil
}

const warmupKey = "phases.warmup"

// document returns the root node of the one document in text.
func document(name string, text []byte) (*yaml.Node, *Error) {
	at := func(line, column int, cause, hint string) *Error {
		return &Error{File: name, Line: line, Column: column, Cause: cause, Hint: hint}
	}
	if len(text) > MaxText {
		return nil, at(1, 1, fmt.Sprintf("the scenario is longer than %d bytes", MaxText), "is it the right file?")
	}
	if i := firstInvalid(text); i >= 0 {
		line, column := locate(text, i)
		return nil, at(line, column, fmt.Sprintf("byte 0x%02x is not UTF-8", text[i]), "save the file as UTF-8")
	}
	if i := bytes.IndexFunc(text, isControl); i >= 0 {
		line, column := locate(text, i)
		r, _ := utf8.DecodeRune(text[i:])
		return nil, at(line, column, fmt.Sprintf("control character %U", r), "remove it, or write it as an escape in double quotes")
	}
	loader, err := yaml.NewLoader(bytes.NewReader(text))
	if err != nil {
		return nil, at(1, 1, err.Error(), "")
	}
	var first, second yaml.Node
	if err := loader.Load(&first); err != nil && !errors.Is(err, io.EOF) {
		return nil, syntax(name, text, err)
	}
	switch err := loader.Load(&second); {
	case errors.Is(err, io.EOF):
	case err != nil:
		return nil, syntax(name, text, err)
	default:
		n := &second
		if len(n.Content) > 0 {
			n = n.Content[0]
		}
		return nil, at(n.Line, n.Column, "a second document begins here", "a file holds one scenario: remove the --- line and what follows")
	}
	if len(first.Content) != 1 || first.Content[0].Kind == yaml.ScalarNode && first.Content[0].Tag == "!!null" {
		return nil, at(1, 1, "the scenario is empty", "write {} for a run with every default")
	}
	return first.Content[0], nil
}

// syntax turns an error of the YAML reader into one with a position and a hint.
func syntax(name string, text []byte, err error) *Error {
	e := &Error{File: name, Line: 1, Column: 1, Cause: err.Error(), Hint: "this is not YAML"}
	var load *yaml.LoadError
	if !errors.As(err, &load) {
		return e
	}
	e.Cause = load.Message
	if load.Mark.Line > 0 {
		e.Line, e.Column = load.Mark.Line, max(1, load.Mark.Column)
	}
	lines := strings.Split(string(text), "\n")
	line := ""
	if e.Line <= len(lines) {
		line = lines[e.Line-1]
	}
	indent := line[:len(line)-len(strings.TrimLeft(line, " \t"))]
	switch {
	case strings.Contains(indent, "\t"):
		e.Cause, e.Hint = "a tab in the indentation", "indent with spaces"
	case strings.Contains(load.Message, "anchor"):
		e.Cause, e.Hint = "aliases are not part of the format", "write the value out"
	case strings.Contains(load.Message, "mapping values are not allowed"):
		e.Cause, e.Hint = "a second value in one line, or a line indented too far", "put text with a colon in quotes; indent keys of one mapping alike"
	case strings.Contains(load.Message, "did not find expected"):
		e.Hint = "a bracket, quote or indentation before this place is not closed"
	case strings.Contains(load.Message, "depth"):
		e.Cause, e.Hint = fmt.Sprintf("nested more than %d deep", maxDepth), ""
	}
	return e
}

// firstInvalid returns the index of the first byte that is not UTF-8, or −1.
func firstInvalid(text []byte) int {
	for i := 0; i < len(text); {
		r, n := utf8.DecodeRune(text[i:])
		if r == utf8.RuneError && n == 1 {
			return i
		}
		i += n
	}
	return -1
}

// isControl reports whether YAML refuses r.
func isControl(r rune) bool {
	return r < ' ' && r != '\t' && r != '\n' && r != '\r' || r >= 0x7f && r <= 0x9f && r != 0x85
}

// locate returns the line and column of a byte, both from 1, the column in
// characters.
func locate(text []byte, i int) (line, column int) {
	line = 1 + bytes.Count(text[:i], []byte("\n"))
	start := bytes.LastIndexByte(text[:i], '\n') + 1
	return line, 1 + utf8.RuneCount(text[start:i])
}

// ParseNode is [ParseIn] of what was read as YAML before, as a part of another
// document or put together of several: errors have the positions of its nodes in the
// file of that name.
func ParseNode(env Environment, name string, root *yaml.Node) (*Scenario, error) {
	return decode(env, name, root)
}

package strict

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v4"
)

// Node is a value in a text, with its place.
type Node = yaml.Node

// maxDepth is how deep a text may be nested.
const maxDepth = 32

// Document is a text to be read.
type Document struct {
	Name  string // the file's, for errors
	Kind  string // what the text is: "scenario"
	Most  int    // how long it may be, in bytes
	Empty string // what to do where it is empty
}

// Root returns the root node of the one document in text.
func (d Document) Root(text []byte) (*Node, *Error) {
	at := func(line, column int, cause, hint string) *Error {
		return &Error{Position: Position{d.Name, line, column}, Cause: cause, Hint: hint}
	}
	if len(text) > d.Most {
		return nil, at(1, 1, fmt.Sprintf("the %s is longer than %d bytes", d.Kind, d.Most), "is it the right file?")
	}
	if i := firstInvalid(text); i >= 0 {
		line, column := Locate(text, i)
		return nil, at(line, column, fmt.Sprintf("byte 0x%02x is not UTF-8", text[i]), "save the file as UTF-8")
	}
	if i := bytes.IndexFunc(text, isControl); i >= 0 {
		line, column := Locate(text, i)
		r, _ := utf8.DecodeRune(text[i:])
		return nil, at(line, column, fmt.Sprintf("control character %U", r), "remove it, or write it as an escape in double quotes")
	}
	loader, err := yaml.NewLoader(bytes.NewReader(text))
	if err != nil {
		return nil, at(1, 1, err.Error(), "")
	}
	var first, second Node
	if err := loader.Load(&first); err != nil && !errors.Is(err, io.EOF) {
		return nil, d.syntax(text, err)
	}
	switch err := loader.Load(&second); {
	case errors.Is(err, io.EOF):
	case err != nil:
		return nil, d.syntax(text, err)
	default:
		n := &second
		if len(n.Content) > 0 {
			n = n.Content[0]
		}
		return nil, at(n.Line, n.Column, "a second document begins here", "a file holds one "+d.Kind+": remove the --- line and what follows")
	}
	if len(first.Content) != 1 || isNull(first.Content[0]) {
		return nil, at(1, 1, "the "+d.Kind+" is empty", d.Empty)
	}
	return first.Content[0], nil
}

// syntax turns an error of the YAML reader into one with a position and a hint.
func (d Document) syntax(text []byte, err error) *Error {
	e := &Error{Position: Position{d.Name, 1, 1}, Cause: err.Error(), Hint: "this is not YAML"}
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
		e.Cause, e.Hint = tooDeep(), ""
	}
	return e
}

func tooDeep() string { return fmt.Sprintf("nested more than %d deep", maxDepth) }

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

// Locate returns the line and column of a byte, both from 1, the column in
// characters.
func Locate(text []byte, i int) (line, column int) {
	line = 1 + bytes.Count(text[:i], []byte("\n"))
	start := bytes.LastIndexByte(text[:i], '\n') + 1
	return line, 1 + utf8.RuneCount(text[start:i])
}

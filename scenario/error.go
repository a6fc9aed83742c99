package scenario

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"sixnines/internal/spell"
	"sixnines/internal/strict"
)

// Error is one thing wrong with a scenario.
type Error struct {
	File   string // the file, or the flag, such as "--rate"; empty for a scenario made in Go
	Line   int    // from 1; 0 where there is no line
	Column int    // from 1, in characters; 0 where there is no column
	Key    string // dotted, such as "workload.rate"; empty where no key is meant
	Cause  string // what is wrong, one line
	Hint   string // what to do about it, one line
}

// Error returns "file:line:column: cause (hint)", without the parts that are
// empty. For a scenario made in Go the key replaces the file.
func (e *Error) Error() string {
	var b strings.Builder
	switch {
	case e.File != "" && e.Line > 0:
		fmt.Fprintf(&b, "%s:%d:%d: ", e.File, e.Line, e.Column)
	case e.File != "":
		b.WriteString(e.File + ": ")
	case e.Line > 0:
		fmt.Fprintf(&b, "%d:%d: ", e.Line, e.Column)
	case e.Key != "":
		b.WriteString(e.Key + ": ")
	}
	b.WriteString(e.Cause)
	if e.Hint != "" {
		b.WriteString(" (" + e.Hint + ")")
	}
	return b.String()
}

// Errors lists everything wrong with a scenario, in the order of the text. It is
// never empty when it is returned as an error.
type Errors []*Error

// Error returns the errors, one a line.
func (e Errors) Error() string {
	lines := make([]string, len(e))
	for i, err := range e {
		lines[i] = err.Error()
	}
	return strings.Join(lines, "\n")
}

// Unwrap returns the errors for [errors.As] and [errors.Is].
func (e Errors) Unwrap() []error {
	all := make([]error, len(e))
	for i, err := range e {
		all[i] = err
	}
	return all
}

// sorted returns the errors by file and position, errors without a position first, as
// an error; nil if e is empty.
func (e Errors) sorted() error {
	if len(e) == 0 {
		return nil
	}
	slices.SortStableFunc(e, func(a, b *Error) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	return e
}

// wrong returns an error that has no position yet.
func wrong(cause, hint string) *Error { return &Error{Cause: cause, Hint: hint} }

// because returns the error for a value that could not be read, with the hint of err
// or, if err has no hint, the form.
func because(what string, err error, form string) *Error {
	if read := new(spell.Error); errors.As(err, &read) && read.Hint != "" {
		form = read.Hint
	}
	return wrong(what+" "+err.Error(), form)
}

// causedBy reports whether a value could not be read for one of the causes, which are those of [spell.Error].
func causedBy(err error, causes ...string) bool {
	read := new(spell.Error)
	return errors.As(err, &read) && slices.Contains(causes, read.Cause)
}

// quote returns s for an error's one line: quoted, and cut if it is long.
func quote(s string) string { return strict.Quote(s) }

package study

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"sixnines/internal/strict"
	"sixnines/scenario"
)

// Cell is one system under one load.
type Cell struct {
	Name   string // SYSTEM/LOAD
	System *System
	Load   *Load
	Rounds int // planned by the length
	// Looks are after how many rounds the cell's tests are decided if they can be, Rounds the last; none: only after all.
	Looks []int
	// Disturbed is Study.Disturbed.
	Disturbed bool
	Beside    string // the cell whose runs are made at the same time, where the machine allows it; empty: none

	file string
	node *yaml.Node // the whole scenario
}

// Scenario returns the cell's scenario as written: neither normalised nor checked for
// contradictory fields. env gives its variables; nil: texts are used unchanged. Errors are
// of the type [scenario.Errors].
func (c *Cell) Scenario(env scenario.Environment) (*scenario.Scenario, error) {
	text, err := c.YAML()
	if err != nil {
		return nil, err
	}
	sc, err := scenario.ParseIn(env, c.made(), text)
	return sc, c.Locate(err)
}

// made is the file name of the cell's scenario in errors, until [Cell.Locate] replaces it with
// the position in the study.
func (c *Cell) made() string { return "cell " + c.Name + " of " + c.file }

// Locate returns an error about the cell's scenario with positions converted to those in the
// study's text, from whose layers the scenario was merged.
func (c *Cell) Locate(err error) error {
	var all scenario.Errors
	if !errors.As(err, &all) || !slices.ContainsFunc(all, func(e *scenario.Error) bool { return e.File == c.made() }) {
		return err
	}
	text, fault := c.YAML()
	if fault != nil {
		return err
	}
	written, unread := strict.Document{Kind: "scenario", Most: scenario.MaxText}.Root(text)
	if unread != nil {
		return err
	}
	at := map[strict.Position]strict.Position{}
	origins(written, c.node, at)
	for _, e := range all {
		if p, ok := at[strict.Position{Line: e.Line, Column: e.Column}]; ok && e.File == c.made() {
			e.File, e.Line, e.Column = c.file, p.Line, p.Column
		}
	}
	return err
}

// origins maps positions in a written text to the positions that its nodes come from.
func origins(written, from *strict.Node, at map[strict.Position]strict.Position) {
	at[strict.Position{Line: written.Line, Column: written.Column}] = strict.Position{Line: from.Line, Column: from.Column}
	for i := range min(len(written.Content), len(from.Content)) {
		origins(written.Content[i], from.Content[i], at)
	}
}

// YAML returns the cell's scenario as a file for "sixnines run".
func (c *Cell) YAML() ([]byte, error) {
	text, err := yaml.Dump(plain(c.node), yaml.WithLineWidth(-1))
	if err != nil {
		return nil, fmt.Errorf("study: write the scenario of %s: %w", c.Name, err)
	}
	return text, nil
}

// plain returns a copy of a node without its comments, which belong to the study's text.
func plain(n *yaml.Node) *yaml.Node {
	c := *n
	c.HeadComment, c.LineComment, c.FootComment = "", "", ""
	c.Content = nil
	for _, x := range n.Content {
		c.Content = append(c.Content, plain(x))
	}
	return &c
}

// Length returns a length by its name.
func (s *Study) Length(name string) (*Length, error) {
	switch name {
	case Quick:
		return &s.Lengths.Quick, nil
	case Default:
		return &s.Lengths.Default, nil
	case Full:
		return &s.Lengths.Full, nil
	}
	return nil, fmt.Errorf("study: there is no length %q; there are %s, %s and %s", name, Quick, Default, Full)
}

// Cells returns the cells of a length, in the order of the systems and then of the
// loads. A cell that several entries select has the scenario of all of them, one
// over the other.
func (s *Study) Cells(length string) ([]Cell, error) {
	l, err := s.Length(length)
	if err != nil {
		return nil, err
	}
	var all []Cell
	for i := range s.Systems {
		for j := range s.Loads {
			if c, ok := s.cell(&s.Systems[i], &s.Loads[j], length, l); ok {
				all = append(all, c)
			}
		}
	}
	return all, nil
}

// cell makes a cell from a system and a load; false: the length does not have the cell.
func (s *Study) cell(system *System, load *Load, length string, l *Length) (Cell, bool) {
	c := Cell{Name: system.Name + "/" + load.Name, System: system, Load: load, Rounds: l.Rounds, Disturbed: s.Disturbed, file: s.file}
	c.Beside = s.beside(c.Name)
	if len(l.Cells) > 0 && !cellMatches(c.Name, l.Cells) {
		return c, false
	}
	layers := []*yaml.Node{&s.Base, &system.Scenario, &load.Scenario}
	selected := false
	for i := range s.Selections {
		x := &s.Selections[i]
		if matches(system.Name, x.Systems) && matches(load.Name, x.Loads) && (len(x.Lengths) == 0 || slices.Contains(x.Lengths, length)) {
			selected = true
			layers = append(layers, &x.Scenario)
		}
	}
	if !selected {
		return c, false
	}
	looks := l.Looks
	layers = append(layers, &l.Scenario)
	for i := range l.Loads {
		x := &l.Loads[i]
		if cellMatches(c.Name, x.Cells) {
			layers = append(layers, &x.Scenario)
			if x.Rounds > 0 {
				c.Rounds, looks = x.Rounds, x.Looks
			}
		}
	}
	switch {
	case len(looks) == 0:
	case s.used(c.Name):
		c.Looks = append(slices.Clone(looks), c.Rounds)
	default: // nothing waits for more
		c.Rounds = looks[0]
	}
	c.node = &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map", Line: 1, Column: 1}
	for _, layer := range layers {
		c.node = merged(c.node, layer)
	}
	name := strings.NewReplacer(".", "_", "/", "-").Replace(c.Name)
	c.node = merged(mapping("name", name[:min(len(name), 64)], "description", s.Title+": "+system.Title+", "+load.Title), c.node)
	return c, true
}

// mapping makes a mapping of texts; pairs alternate keys and values.
func mapping(pairs ...string) *yaml.Node {
	n := &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map", Line: 1, Column: 1}
	for _, text := range pairs {
		n.Content = append(n.Content, &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: text, Line: 1, Column: 1})
	}
	return n
}

// merged merges one node over another: mappings key by key, anything else as a whole. A
// null value removes its key.
func merged(under, over *yaml.Node) *yaml.Node {
	switch {
	case over.Kind == 0:
		return under
	case under.Kind != yaml.MappingNode || over.Kind != yaml.MappingNode:
		return over
	}
	out := *under
	out.Content = slices.Clone(under.Content)
	for i := 0; i+1 < len(over.Content); i += 2 {
		key, value := over.Content[i], over.Content[i+1]
		at := -1
		for k := 0; k+1 < len(out.Content); k += 2 {
			if out.Content[k].Value == key.Value {
				at = k
			}
		}
		null := value.Kind == yaml.ScalarNode && value.Tag == "!!null"
		switch {
		case null && at >= 0:
			out.Content = slices.Delete(out.Content, at, at+2)
		case null:
		case at >= 0:
			out.Content[at+1] = merged(out.Content[at+1], value)
		default:
			out.Content = append(out.Content, key, value)
		}
	}
	return &out
}

// matches reports whether a name matches one of the patterns.
func matches(name string, patterns []string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool {
		ok, err := path.Match(p, name)
		return err == nil && ok
	})
}

// cellMatches reports whether a cell's name matches one of the patterns; a pattern without a
// slash is matched with the name of the system.
func cellMatches(name string, patterns []string) bool {
	system, _, _ := strings.Cut(name, "/")
	return matches(name, patterns) || matches(system, patterns)
}

// Select returns the cells whose names match one of the patterns; a pattern without a slash
// is matched with the name of the system.
func Select(cells []Cell, patterns []string) []Cell {
	var all []Cell
	for _, c := range cells {
		if cellMatches(c.Name, patterns) {
			all = append(all, c)
		}
	}
	return all
}

// Set is a set of cells that need all of their planned rounds.
type Set struct {
	Cells []string
	Test  *Test // the test that compares them; nil: a single cell
}

// Sets returns the sets of cells that tests compare, and each cell as a set of its own.
func (s *Study) Sets(cells []Cell) []Set {
	var all []Set
	for _, c := range cells {
		all = append(all, Set{Cells: []string{c.Name}})
	}
	there := func(name string) bool { return slices.ContainsFunc(cells, func(c Cell) bool { return c.Name == name }) }
	for i := range s.Conclusions {
		for k := range s.Conclusions[i].Tests {
			set := Set{Test: &s.Conclusions[i].Tests[k]}
			switch t := set.Test; {
			case t.A != "":
				set.Cells = []string{t.A, t.B}
			case t.Kind == KindMonotone:
				set.Cells = t.Cells
			}
			if len(set.Cells) > 1 && !slices.ContainsFunc(set.Cells, func(name string) bool { return !there(name) }) {
				all = append(all, set)
			}
		}
	}
	return all
}

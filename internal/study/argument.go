package study

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"sixnines/scenario"
)

// mostVersions bounds the versions of an argument.
const mostVersions = 6

// ErrNoArgument says that a study has fixed systems and takes no argument.
var ErrNoArgument = errors.New("the study has systems of its own")

// Argument is one broker in several versions, which become a study's systems. The argument
// in a study's text is an example, with which the study is checked and shown; [Study.With]
// replaces it.
//
// In such a study {broker}, {product}, {driver} and {first} (the first version) stand for
// the argument's values. An element of any list whose for has the values {versions} or
// {later} (all versions but the first) is repeated for each of these versions, and one with
// {second} is there once if there are two versions, and not at all if there are more.
type Argument struct {
	Broker   string   `yaml:"broker"`   // its name in names and titles
	Product  string   `yaml:"product"`  // the product that is started
	Driver   string   `yaml:"driver"`   // the driver that connects to it
	Versions []string `yaml:"versions"` // two to six, in the order of presentation
}

// String writes the argument as on the command line: kafka=3.9.1,4.3.1.
func (a Argument) String() string { return a.Broker + "=" + strings.Join(a.Versions, ",") }

// Validate returns an error if the argument cannot become systems.
func (a Argument) Validate() error {
	for i, v := range a.Versions {
		switch {
		case !nameForm.MatchString(v):
			return fmt.Errorf("%q is no version", v)
		case slices.Contains(a.Versions[:i], v):
			return fmt.Errorf("version %s stands there twice", v)
		}
	}
	switch {
	case a.Broker == "" || a.Product == "" || a.Driver == "":
		return errors.New("broker, product and driver are wanted")
	case len(a.Versions) < 2:
		return errors.New("two versions are wanted, to compare them")
	case len(a.Versions) > mostVersions:
		return fmt.Errorf("%d versions are more than the %d that can be compared", len(a.Versions), mostVersions)
	}
	return nil
}

// With returns the study with another argument: a new study with fixed systems, whose text is
// generated. The error wraps [ErrNoArgument] if the study takes no argument.
func (s *Study) With(a Argument) (*Study, error) {
	if s.Argument == nil {
		return nil, fmt.Errorf("study %s: %w", s.Name, ErrNoArgument)
	}
	if err := a.Validate(); err != nil {
		return nil, fmt.Errorf("study %s: %w", s.Name, err)
	}
	root := a.applied(s.template)
	root.Content = slices.Clone(root.Content)
	for i := 0; i+1 < len(root.Content); i += 2 {
		if root.Content[i].Value == "argument" {
			root.Content = slices.Delete(root.Content, i, i+2)
			break
		}
	}
	text, err := yaml.Dump(plain(root), yaml.WithLineWidth(-1))
	if err != nil {
		return nil, fmt.Errorf("study: write %s: %w", s.Name, err)
	}
	made, err := Parse(s.file, text)
	if err != nil {
		return nil, err
	}
	made.of = a.String()
	return made, nil
}

// Run returns the command that runs the study in a length.
func (s *Study) Run(length string) string {
	if length == Default {
		return s.run()
	}
	return s.run() + " --" + length
}

// run returns the command that runs the study at its default length.
func (s *Study) run() string {
	command := "sixnines study run " + s.Name
	if s.of != "" {
		command += " --broker " + s.of
	}
	return command
}

// exampled applies the example argument in the study's text.
func (s *Study) exampled() error {
	for i := 0; s.root.Kind == yaml.MappingNode && i+1 < len(s.root.Content); i += 2 {
		if s.root.Content[i].Value != "argument" {
			continue
		}
		node := s.root.Content[i+1]
		var a Argument
		if err := decode(s.file, node, "argument", &a); err != nil {
			return err
		}
		if err := a.Validate(); err != nil {
			return scenario.Errors{{File: s.file, Line: node.Line, Column: node.Column, Cause: "argument: " + err.Error(), Hint: "write an example, such as {broker: kafka, product: kafka, driver: kafka, versions: [3.9.1, 4.3.1]}"}}
		}
		s.template, s.root = s.root, a.applied(s.root)
	}
	return nil
}

// applied returns a copy of a study's text with the argument's values filled in.
func (a Argument) applied(root *yaml.Node) *yaml.Node {
	n := filled(root, filler(map[string]string{"broker": a.Broker, "product": a.Product, "driver": a.Driver, "first": a.Versions[0]}))
	second := a.Versions[1:]
	if len(second) > 1 {
		second = nil
	}
	return each(n, map[string][]string{"{versions}": a.Versions, "{later}": a.Versions[1:], "{second}": second})
}

// each repeats list elements whose for has the name of one of the lists: once for each value
// of that list.
func each(n *yaml.Node, lists map[string][]string) *yaml.Node {
	out := *n
	out.Content = nil
	for _, x := range n.Content {
		x = each(x, lists)
		at, name, values := listed(x, lists)
		if at < 0 || n.Kind != yaml.SequenceNode {
			out.Content = append(out.Content, x)
			continue
		}
		one := *x
		one.Content = slices.Delete(slices.Clone(x.Content), at, at+2)
		for _, value := range values {
			out.Content = append(out.Content, filled(&one, filler(map[string]string{name: value})))
		}
	}
	return &out
}

// listed finds for: {NAME: LIST} in a mapping; at is its index, negative if not found.
func listed(n *yaml.Node, lists map[string][]string) (at int, name string, values []string) {
	for i := 0; n.Kind == yaml.MappingNode && i+1 < len(n.Content); i += 2 {
		ranges := n.Content[i+1]
		if n.Content[i].Value == "for" && ranges.Kind == yaml.MappingNode && len(ranges.Content) == 2 {
			if values, ok := lists[ranges.Content[1].Value]; ok {
				return i, ranges.Content[0].Value, values
			}
		}
	}
	return -1, "", nil
}

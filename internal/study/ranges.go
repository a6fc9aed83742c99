package study

import (
	"maps"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v4"
)

// Ranges are the names and values for which a system or a load is repeated, in the order in
// which they are written.
type Ranges []Range

// Range is a name and its values.
type Range struct {
	Name   string
	Values []string
}

// each yields every combination of the values; those of the last name change fastest.
func (r Ranges) each(yield func(values map[string]string)) {
	total := 1
	for _, x := range r {
		total *= len(x.Values)
	}
	for k := range total {
		values := map[string]string{}
		rest := k
		for i := len(r) - 1; i >= 0; i-- {
			n := len(r[i].Values)
			values[r[i].Name] = r[i].Values[rest%n]
			rest /= n
		}
		yield(values)
	}
}

// places returns the places on axes: those of the values that are numbers, and those that
// were written.
func places(values map[string]string, written map[string]float64) map[string]float64 {
	all := map[string]float64{}
	for name, v := range values {
		if x, err := strconv.ParseFloat(v, 64); err == nil {
			all[name] = x
		}
	}
	maps.Copy(all, written)
	return all
}

// filler returns a replacer of {NAME} by the value of NAME.
func filler(values map[string]string) *strings.Replacer {
	var pairs []string
	for name, v := range values {
		pairs = append(pairs, "{"+name+"}", v)
	}
	return strings.NewReplacer(pairs...)
}

// filled returns a copy of a node with values filled into its texts. A text that becomes a
// number or a boolean gets that type; the word null stays a text, because it is a driver's
// name.
func filled(n *yaml.Node, fill *strings.Replacer) *yaml.Node {
	c := *n
	c.Content = nil
	for _, x := range n.Content {
		c.Content = append(c.Content, filled(x, fill))
	}
	if text := fill.Replace(n.Value); n.Kind == yaml.ScalarNode && text != n.Value {
		c.Value, c.Style = text, 0
		var read yaml.Node
		if yaml.Load([]byte(text), &read) == nil && len(read.Content) == 1 && read.Content[0].Kind == yaml.ScalarNode && read.Content[0].Tag != "!!null" {
			c.Tag = read.Content[0].Tag
		}
	}
	return &c
}

// expand replaces systems, loads and pairs that have ranges by one for each combination.
func (s *Study) expand() error {
	var systems []System
	for i, x := range s.Systems {
		if len(x.For) == 0 {
			x.from = i
			systems = append(systems, x)
			continue
		}
		x.For.each(func(values map[string]string) {
			fill := filler(values)
			systems = append(systems, System{Name: fill.Replace(x.Name), Title: fill.Replace(x.Title), StandsFor: fill.Replace(x.StandsFor),
				Scenario: *filled(&x.Scenario, fill), At: places(values, x.At), from: i})
		})
	}
	var loads []Load
	for i, x := range s.Loads {
		if len(x.For) == 0 {
			x.from = i
			loads = append(loads, x)
			continue
		}
		x.For.each(func(values map[string]string) {
			fill := filler(values)
			loads = append(loads, Load{Bench: fill.Replace(x.Bench), Name: fill.Replace(x.Name), Title: fill.Replace(x.Title), Scenario: *filled(&x.Scenario, fill), At: places(values, x.At), from: i})
		})
	}
	s.Systems, s.Loads = systems, loads
	s.expandBeside()
	return nil
}

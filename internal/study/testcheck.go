package study

import (
	"fmt"
	"slices"
	"strings"
)

// kind says which fields a test of a kind takes.
type kind struct {
	takes   []string // required fields; those that end in ? are optional
	figures int      // largest number of figures; 0: any number
}

// kinds returns the kinds of tests with their fields.
func kinds() map[string]kind {
	return map[string]kind{
		KindFaster:      {takes: []string{"a", "b", "figures", "margin?"}},
		KindBelow:       {takes: []string{"cells", "figures", "bound"}},
		KindAbove:       {takes: []string{"cells", "figures", "bound"}},
		KindRatio:       {takes: []string{"a", "b", "figures", "at_least|at_most"}, figures: 1},
		KindEquivalent:  {takes: []string{"a", "b", "figures", "margin"}},
		KindMonotone:    {takes: []string{"cells", "figures", "direction"}, figures: 1},
		KindShare:       {takes: []string{"cells", "figures", "at_least|at_most", "share"}, figures: 1},
		KindSteady:      {takes: []string{"cells", "class"}},
		KindNone:        {takes: []string{"cells", "figures"}},
		KindSome:        {takes: []string{"cells", "figures"}},
		KindUndecidable: {takes: []string{"why", "needs"}},
		KindArithmetic:  {takes: []string{"function", "of", "value", "margin"}},
	}
}

// given returns the names of the fields that a test has.
func (t *Test) given() []string {
	var all []string
	for name, is := range map[string]bool{"a": t.A != "", "b": t.B != "", "cells": len(t.Cells) > 0, "figures": len(t.Figures) > 0, "bound": t.Bound != "",
		"at_least|at_most": t.AtLeast != nil || t.AtMost != nil, "margin": t.Margin > 0, "share": t.Share > 0, "direction": t.Direction != "", "class": t.Class != "",
		"why": t.Why != "", "needs": t.Needs != "", "function": t.Function != "", "of": len(t.Of) > 0, "value": t.Value != 0} {
		if is {
			all = append(all, name)
		}
	}
	slices.Sort(all)
	return all
}

// test checks a test of a conclusion.
func (c *checker) test(t *Test, at ...any) {
	var names []string
	for name := range kinds() {
		names = append(names, name)
	}
	slices.Sort(names)
	if !c.oneOf(t.Kind, names, "kind of test", append(at, "kind")...) {
		return
	}
	k := kinds()[t.Kind]
	given := t.given()
	for _, name := range k.takes {
		if !strings.HasSuffix(name, "?") && !slices.Contains(given, name) {
			c.fail(fmt.Sprintf("a test of the kind %s needs %s", t.Kind, strings.ReplaceAll(name, "|", " or ")), "it takes "+strings.Join(k.takes, ", "), at...)
		}
	}
	for _, name := range given {
		if !slices.Contains(k.takes, name) && !slices.Contains(k.takes, name+"?") {
			c.fail(fmt.Sprintf("a test of the kind %s takes no %s", t.Kind, strings.ReplaceAll(name, "|", " or ")), "it takes "+strings.Join(k.takes, ", "), at...)
		}
	}
	if k.figures > 0 && len(t.Figures) > k.figures {
		c.fail(fmt.Sprintf("a test of the kind %s is of one figure", t.Kind), "make a test for each", append(at, "figures")...)
	}
	for _, name := range []string{t.A, t.B} {
		if name != "" {
			c.cell(name, at...)
		}
	}
	if t.A != "" && t.A == t.B {
		c.fail("a and b are the same cell", "name another one", at...)
	}
	if t.Kind == KindMonotone {
		for _, name := range t.Cells {
			c.cell(name, append(at, "cells")...)
		}
		if len(t.Cells) == 1 {
			c.fail("one cell has no course", "name two at least, in order", append(at, "cells")...)
		}
	} else if len(t.Cells) > 0 {
		c.patterns(t.Cells, c.cells, cellMatches, "cell", append(at, "cells")...)
	}
	for _, name := range t.Figures {
		c.figure(name, append(at, "figures")...)
		if u, ok := UnitOf(name); ok && t.Bound != "" {
			if _, err := bound(t.Bound, u); err != nil {
				c.fail(fmt.Sprintf("%q is no bound for %s", t.Bound, name), "latencies are held against durations such as 1ms, other figures against numbers", append(at, "bound")...)
			}
		}
		if name == "max" {
			c.fail("a maximum cannot be tested", "it is no property of a system: take a percentile", append(at, "figures")...)
		}
	}
	c.metric(t.Metric, append(at, "metric")...)
	switch {
	case t.AtLeast != nil && t.AtMost != nil:
		c.fail("at_least and at_most together", "make two tests", at...)
	case t.Share > 1:
		c.fail(fmt.Sprintf("a share of %v", t.Share), "1 is all of them", append(at, "share")...)
	case t.Direction != "":
		c.oneOf(t.Direction, []string{"rising", "falling"}, "direction", append(at, "direction")...)
	case t.Class != "":
		c.oneOf(t.Class, []string{"flat", "warm-up", "drift", "level shift", "no steady state"}, "class", append(at, "class")...)
	case t.Function != "":
		var functions []string
		for name := range arithmetic() {
			functions = append(functions, name)
		}
		slices.Sort(functions)
		if c.oneOf(t.Function, functions, "function", append(at, "function")...) {
			if _, err := arithmetic()[t.Function](t.Of); err != nil {
				c.fail(t.Function+": "+err.Error(), "see docs/studies.md", append(at, "of")...)
			}
		}
	}
}

package compare

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Weight says how much a difference between the sets matters.
type Weight string

// The weights, from the gravest.
const (
	// Decisive differences make a ranking meaningless: another guarantee, another
	// load, another way to measure.
	Decisive Weight = "decisive"
	// Large differences may explain a change, or are what is compared.
	Large Weight = "large"
	// Small differences are listed for completeness.
	Small Weight = "small"
)

// Difference is a property in which the sets differ.
type Difference struct {
	What   string `json:"what"`
	A      string `json:"a"`
	B      string `json:"b"`
	Weight Weight `json:"weight"`
	Why    string `json:"why"` // why it matters
	from   origin
	mixed  bool // the runs of one set differ in it
	// ranked says that both sides state a level of this guarantee. Then order is -1 if A
	// promises less than B, 0 if the same, 1 if more.
	ranked bool
	order  int
}

// absent stands for a missing value.
const absent = "–"

// differences compares the properties of the runs of both sets, and of the runs within
// each set.
func differences(sets [2][]run) []Difference {
	var order []attribute // as first seen
	values := [2]map[string][]string{{}, {}}
	known := map[string]bool{}
	for i := range sets {
		for n, r := range sets[i] {
			for _, a := range attributes(r) {
				if !known[a.name] {
					known[a.name] = true
					order = append(order, a)
				}
				v := values[i][a.name]
				for len(v) < n {
					v = append(v, absent)
				}
				values[i][a.name] = append(v, a.value)
			}
		}
	}
	list := []Difference{}
	for _, a := range order {
		var texts [2]string
		var sorts [2][]string
		identifier := true
		for i := range sets {
			v := values[i][a.name]
			for len(v) < len(sets[i]) {
				v = append(v, absent)
			}
			sorts[i] = distinct(v)
			identifier = identifier && len(v) > 1 && len(sorts[i]) == len(v)
			texts[i] = counted(v, sorts[i])
		}
		switch {
		case slices.Equal(sorts[0], sorts[1]) && len(sorts[0]) == 1:
			if d, may := behindWords(a, &sets[0][0].Header, &sets[1][0].Header); may {
				list = append(list, d)
			}
			continue
		case identifier: // differs in every run: it identifies the run and is no property
			continue
		case slices.Equal(sorts[0], sorts[1]) && a.weight != Decisive:
			continue // varies from run to run, in both sets alike
		}
		d := Difference{What: a.name, A: texts[0], B: texts[1], Weight: a.weight, Why: a.why, from: a.from, mixed: len(sorts[0])+len(sorts[1]) > 2}
		switch {
		case d.mixed && a.weight == Decisive:
			d.Why = "the runs within one set differ"
		case d.Guarantee():
			d.weigh(&sets[0][0].Header, &sets[1][0].Header)
		}
		if !told(list, d) {
			list = append(list, d)
		}
	}
	return modules(list)
}

// told reports whether the list already has the same difference under another name:
// drivers, servers and scenarios repeat each other.
func told(list []Difference, d Difference) bool {
	return slices.ContainsFunc(list, func(e Difference) bool {
		return e.A == d.A && e.B == d.B && e.Weight == d.Weight && lastWord(e.What) == lastWord(d.What)
	})
}

func lastWord(s string) string {
	s = s[strings.LastIndexAny(s, " .")+1:]
	return s[strings.LastIndexByte(s, '_')+1:]
}

func distinct(v []string) []string {
	v = slices.Clone(v)
	slices.Sort(v)
	return slices.Compact(v)
}

// counted writes the values of a set: the only one, or each with the number of runs that
// have it.
func counted(v, sorts []string) string {
	if len(sorts) == 1 {
		return v[0]
	}
	var words []string
	for _, s := range sorts {
		n := 0
		for _, x := range v {
			if x == s {
				n++
			}
		}
		words = append(words, fmt.Sprintf("%s in %d of %d", s, n, len(v)))
	}
	return list(words)
}

// modulePrefix is the prefix of attributes that are libraries built into the tool.
const modulePrefix = "module "

// modules joins the differences of all libraries into one.
func modules(list []Difference) []Difference {
	var out, of []Difference
	for _, d := range list {
		if strings.HasPrefix(d.What, modulePrefix) {
			of = append(of, d)
			continue
		}
		out = append(out, d)
	}
	if len(of) == 0 {
		return list
	}
	if len(of) == 1 {
		return append(out, of[0])
	}
	var a, b []string
	for _, d := range of {
		name := strings.TrimPrefix(d.What, modulePrefix)
		name = name[strings.LastIndexByte(name, '/')+1:]
		a, b = append(a, name+" "+d.A), append(b, name+" "+d.B)
	}
	return append(out, Difference{What: fmt.Sprintf("libraries (%d)", len(of)), A: listOf(a), B: listOf(b), Weight: of[0].Weight, Why: of[0].Why})
}

func listOf(words []string) string { return list(words) }

// gravestFirst sorts by weight and keeps the order within one.
func gravestFirst(list []Difference) {
	slices.SortStableFunc(list, func(x, y Difference) int { return cmp.Compare(x.Weight.rank(), y.Weight.rank()) })
}

func (w Weight) rank() int { return slices.Index([]Weight{Decisive, Large, Small}, w) }

// orderOf returns a difference if one set was measured before the other, or always first
// in its pair; else, and for an ab, nil.
func orderOf(all []couple, ab bool) *Difference {
	if ab || len(all) < 2 {
		return nil
	}
	const advice = "whatever changed on the machine in between is part of the difference; sixnines ab runs both alternately, in random order"
	var first [2]int
	lastOf, firstOf := [2]int64{}, [2]int64{}
	for n, c := range all {
		for i := range c.runs {
			at := c.runs[i].Header.Started.UnixNano()
			if n == 0 {
				lastOf[i], firstOf[i] = at, at
			}
			lastOf[i], firstOf[i] = max(lastOf[i], at), min(firstOf[i], at)
		}
		if c.runs[1].Header.Started.Before(c.runs[0].Header.Started) {
			first[1]++
		} else {
			first[0]++
		}
	}
	switch {
	case lastOf[0] < firstOf[1]:
		return &Difference{What: "order", A: "all before B", B: "all after A", Weight: Large, Why: advice}
	case lastOf[1] < firstOf[0]:
		return &Difference{What: "order", A: "all after B", B: "all before A", Weight: Large, Why: advice}
	case first[0] == 0 || first[1] == 0:
		when := [2]string{"always first", "always second"}
		if first[0] == 0 {
			when[0], when[1] = when[1], when[0]
		}
		return &Difference{What: "order", A: when[0], B: when[1], Weight: Small, Why: "after-effects of the first run of a pair are part of the difference; sixnines ab runs them in random order"}
	}
	return nil
}

package compare

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Change is a field of the scenario in which all runs of B differ from all runs of A: what an
// ab was asked to compare.
type Change struct {
	Field string `json:"field"` // as --b takes it: option.linger, or the dotted key
	A     string `json:"a"`     // empty: A does not set it
	B     string `json:"b"`
	key   string // in the scenario
}

// String writes the change as "option.storage: memory → file".
func (c Change) String() string {
	switch {
	case c.A == "":
		return c.Field + "=" + c.B
	case c.B == "":
		return c.Field + ": " + c.A + " → default"
	}
	return c.Field + ": " + c.A + " → " + c.B
}

// Changed lists the fields in which two scenarios, as JSON, differ. Name, description and
// version do not count.
func Changed(a, b json.RawMessage) []Change {
	return changesOf([2]map[string]string{flat(a), flat(b)})
}

func changesOf(fields [2]map[string]string) []Change {
	both := maps.Clone(fields[0])
	maps.Copy(both, fields[1])
	var out []Change
	for _, key := range slices.Sorted(maps.Keys(both)) {
		a, b := fields[0][key], fields[1][key]
		if slices.Contains([]string{"name", "description", "version"}, key) || a == b {
			continue
		}
		c := Change{Field: key, A: a, B: b, key: key}
		for prefix, short := range map[string]string{"target.options.": "option.", "target.settings.": "setting."} {
			if name, ok := strings.CutPrefix(key, prefix); ok {
				c.Field = short + name
			}
		}
		out = append(out, c)
	}
	return out
}

// DecisiveChanges returns the changes that refuse a ranking whatever guarantees the broker
// gives: those of the load.
func DecisiveChanges(all []Change) []Change {
	var out []Change
	for _, c := range all {
		if w, _ := ofField(c.key); w == Decisive || slices.Contains([]string{"workload.pattern", "workload.rate", "workload.size"}, c.key) {
			out = append(out, c)
		}
	}
	return out
}

// underTest returns what an ab changes: fields with one value in all runs of a set and another
// in the other set. Fields of the other workloads of a run have their workload's name as a
// prefix.
func underTest(sets [2][]run) []Change {
	var fields [2]map[string]string
	for i := range sets {
		for n, r := range sets[i] {
			own := flat(r.Header.Scenario)
			all := maps.Clone(own)
			for _, o := range r.beside {
				for key, value := range flat(o.Header.Scenario) {
					if rest, of := strings.CutPrefix(key, "workload."); of {
						all["workloads."+o.Header.Workload+"."+rest] = value
					}
				}
			}
			if n == 0 {
				fields[i] = all
				continue
			}
			for key := range fields[i] {
				if all[key] != fields[i][key] {
					delete(all, key)
					fields[i][key] = varies
				}
			}
			for key := range all {
				if _, had := fields[i][key]; !had {
					fields[i][key] = varies
				}
			}
		}
	}
	changes := slices.DeleteFunc(changesOf(fields), func(c Change) bool { return c.A == varies || c.B == varies })
	if name := sets[0][0].Header.Workload; name != "" {
		for i := range changes {
			if rest, own := strings.CutPrefix(changes[i].key, "workload."); own {
				changes[i].Field = "workloads." + name + "." + rest
			}
		}
	}
	return changes
}

// varies stands for the value of a field that differs from run to run within a set.
const varies = "\x00"

// follows reports whether a difference of this origin can result from the changes of an ab.
func (o origin) follows(changes []Change) bool {
	target := func(fields ...string) bool {
		return slices.ContainsFunc(changes, func(c Change) bool {
			rest, of := strings.CutPrefix(c.key, "target.")
			first, _, _ := strings.Cut(rest, ".")
			return of && (len(fields) == 0 || slices.Contains(fields, first))
		})
	}
	switch o {
	case asked:
		return len(changes) > 0
	case effective:
		return slices.ContainsFunc(changes, func(c Change) bool {
			return strings.HasPrefix(c.key, "target.") || strings.HasPrefix(c.key, "workload.")
		})
	case product:
		return target("driver", "url", "managed")
	case configured:
		return target()
	}
	return false
}

// settle sorts the differences: those that result from the changes of an ab go to Follows,
// except for the changes themselves, and the rest to Differences. It returns the decisive ones
// that result from the changes or are changes.
func (c *Comparison) settle(all []Difference) (refusing []Difference) {
	for _, d := range all {
		switch {
		case d.mixed || !d.from.follows(c.Changes):
			c.Differences = append(c.Differences, d)
			continue
		case !slices.ContainsFunc(c.Changes, func(x Change) bool {
			return d.from == asked && slices.Contains([]string{d.What, "workload." + d.What, "target." + d.What}, x.key)
		}):
			c.Follows = append(c.Follows, d)
		}
		if d.Weight == Decisive {
			refusing = append(refusing, d)
		}
	}
	return refusing
}

// guarantees says how B's guarantees differ from A's; it is empty if they do not, as far as is
// known.
func guarantees(follows []Difference) string {
	var weaker, stronger, other, unknown []string
	for _, d := range follows {
		if !d.Guarantee() {
			continue
		}
		text := fmt.Sprintf("%s %q instead of %q", d.What, d.B, d.A)
		switch {
		case !d.ranked:
			unknown = append(unknown, text)
		case d.order > 0:
			weaker = append(weaker, text)
		case d.order < 0:
			stronger = append(stronger, text)
		default:
			other = append(other, text)
		}
	}
	var parts []string
	for _, p := range []struct {
		begin string
		texts []string
	}{{"B gives weaker guarantees: ", weaker}, {"B gives stronger guarantees: ", stronger}, {"B gives different guarantees: ", other},
		{"It is not known whether B gives weaker or stronger guarantees: ", unknown}} {
		if len(p.texts) > 0 {
			parts = append(parts, p.begin+all(p.texts)+".")
		}
	}
	return strings.Join(parts, " ")
}

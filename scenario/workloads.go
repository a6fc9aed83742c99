package scenario

import (
	"fmt"
	"iter"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v4"

	"sixnines/internal/spell"
	"sixnines/internal/strict"
)

// Workloads are loads that run at the same time, in the order in which they are
// written. In YAML they are a mapping by name.
type Workloads []NamedWorkload

// NamedWorkload is one of several loads of a run.
type NamedWorkload struct {
	Name     string // 1 to 64 letters, digits, hyphens and underscores; unique among them
	Workload `yaml:",inline"`
	Options  map[string]any `yaml:"options,omitempty" doc:"options of the driver for this workload, laid over the target's"`
	Seed     uint64         `yaml:"seed,omitempty" doc:"seed of this workload; default: the scenario's, one more for each workload before it" min:"1"`
	From     time.Duration  `yaml:"from,omitempty" doc:"when in the window its load begins, without a warm-up; default: with the window, after the warm-up" min:"0s" max:"168h"`
	For      time.Duration  `yaml:"for,omitempty" doc:"how long its load lasts; default: to the window's end, and on until everything measured is resolved" min:"1ms" max:"168h"`
	// Background loads are recorded and accounted for; their verdicts do not count.
	Background bool        `yaml:"background,omitempty" doc:"recorded and accounted for, but not judged"`
	Objectives []Objective `yaml:"objectives,omitempty" doc:"what this workload must show"`
}

// mostWorkloads is the largest number of workloads of a run.
const mostWorkloads = 16

// Part is one workload of a run as a scenario of its own.
type Part struct {
	*Scenario // with this workload, normalised
	// Name is the workload's name; empty if the scenario has only one workload.
	Name string
	// From is when this workload's window begins, from the start of the run's window. Its
	// length is Phases.Duration.
	From time.Duration
	// Stops says that the load ends with its window, instead of going on until every
	// measured message is resolved.
	Stops      bool
	Background bool
}

// Parts returns the workloads of a normalised scenario, each as a separate scenario. For a
// scenario without Workloads it returns the scenario itself, not a copy.
func (s *Scenario) Parts() []Part {
	if len(s.Workloads) == 0 {
		return []Part{{Scenario: s, Stops: s.stops()}}
	}
	parts := make([]Part, len(s.Workloads))
	for i, w := range s.Workloads {
		parts[i] = s.part(i, w)
	}
	return parts
}

// part returns workload i.
func (s *Scenario) part(i int, w NamedWorkload) Part {
	p := s.clone()
	p.Workloads = nil
	p.Workload, p.Objectives = w.clone().Workload, slices.Clone(w.Objectives)
	if len(w.Options) > 0 {
		p.Target.Options = maps.Clone(s.Target.Options)
		if p.Target.Options == nil {
			p.Target.Options = map[string]any{}
		}
		maps.Copy(p.Target.Options, w.Options)
	}
	p.Seed = w.Seed
	fill(&p.Seed, s.Seed+uint64(i))
	p.Actions = s.actionsOf(&w)
	p.Phases.Duration = w.For
	if at := s.stopOf(w.Name, &w.Workload); at > 0 {
		fill(&p.Phases.Duration, at-w.From)
	}
	fill(&p.Phases.Duration, s.Phases.Duration-w.From)
	if w.From > 0 || p.ComesLate() || w.Pattern == Consume {
		p.Phases.Warmup, p.Phases.NoWarmup = 0, true
	}
	p.Record.Probe = ProbeOff
	if s.source != nil {
		p.source = s.source.below(strict.Join(workloadsKey, w.Name))
	}
	p.Normalise()
	return Part{Scenario: p, Name: w.Name, From: w.From, Stops: w.For > 0 || p.stops(), Background: w.Background}
}

// loads iterates over the workloads of the scenario by name. A scenario's only workload has
// an empty name.
func (s *Scenario) loads() iter.Seq2[string, *Workload] {
	return func(yield func(string, *Workload) bool) {
		if len(s.Workloads) == 0 {
			yield("", &s.Workload)
			return
		}
		for i := range s.Workloads {
			if !yield(s.Workloads[i].Name, &s.Workloads[i].Workload) {
				return
			}
		}
	}
}

const workloadsKey = "workloads"

// below returns the positions of one workload's values, under the keys of a scenario with
// that workload alone.
func (src *source) below(prefix string) *source {
	return &source{file: src.file, at: keysBelow(src.at, prefix), written: keysBelow(src.written, prefix)}
}

func keysBelow[T any](all map[string]T, prefix string) map[string]T {
	out := map[string]T{}
	for _, own := range []bool{false, true} { // the workload's own keys overwrite the common ones
		for key, x := range all {
			if name, ok := partKey(key, prefix); ok && own == strings.HasPrefix(key, prefix) {
				out[name] = x
			}
		}
	}
	return out
}

// partKey returns a key's name in a scenario whose only workload is the one at prefix;
// false: the key belongs to another workload.
func partKey(key, prefix string) (string, bool) {
	rest, own := strings.CutPrefix(key, prefix+".")
	switch {
	case key == prefix:
		return "workload", true
	case !own:
		return key, !strings.HasPrefix(key, workloadsKey)
	case rest == "options" || strings.HasPrefix(rest, "options."):
		return "target." + rest, true
	case rest == "for":
		return "phases.duration", true
	case rest == "seed" || rest == "from" || rest == "background" || strings.HasPrefix(rest, "objectives"):
		return rest, true
	}
	return "workload." + rest, true
}

// clone returns a copy that shares no mutable state with w.
func (w NamedWorkload) clone() NamedWorkload {
	w.Options, w.Objectives = maps.Clone(w.Options), slices.Clone(w.Objectives)
	w.Arrivals.Steps = slices.Clone(w.Arrivals.Steps)
	return w
}

// Reseed sets the scenario's seed. It shifts the seeds of workloads that have their own by
// the same difference.
func (s *Scenario) Reseed(seed uint64) {
	by := seed - s.Seed
	s.Seed, s.Workloads = seed, slices.Clone(s.Workloads) // others may have them
	for i := range s.Workloads {
		if w := &s.Workloads[i]; w.Seed > 0 {
			w.Seed += by
			fill(&w.Seed, 1) // 0 means no seed of its own
		}
	}
}

// workloadsHint returns a hint with the existing workloads, for one called name that does
// not exist.
func (s *Scenario) workloadsHint(name string) string {
	var names []string
	for _, w := range s.Workloads {
		names = append(names, w.Name)
	}
	switch near := spell.Nearest(name, names); {
	case len(names) == 0:
		return "the scenario has one workload, whose keys begin with workload."
	case near != "":
		return "did you mean " + near + "?"
	}
	return "there are " + strings.Join(names, ", ")
}

// Heaviest returns the size of the largest message of any workload.
func (s *Scenario) Heaviest() Size {
	most := Size(0)
	for _, w := range s.loads() {
		most = max(most, w.Size.Largest())
	}
	return most
}

// workloads checks several workloads: first their common keys, then each workload by itself.
func (v *validator) workloads() {
	s := v.s
	at := func(w NamedWorkload, key string) string { return strict.Join(strict.Join(workloadsKey, w.Name), key) }
	refuse := func(given bool, what, hint string, keys ...string) {
		v.refuse(given, "several workloads, and "+what, hint, append(keys, workloadsKey)...)
	}
	refuse(!reflect.ValueOf(s.Workload).IsZero(), "both workloads and workload", "give it a name among workloads; a flag cannot say which of several it means, and --set workloads.NAME.rate=1k/s can", "workload")
	refuse(len(s.Objectives) > 0, "objectives that belong to no workload", "give objectives to each workload that has any, by a flag as --slo \"NAME: EXPR\"", "objectives")
	refuse(!s.Phases.Until.IsZero(), "one interval to go on for", "leave phases.until out, or run one workload", "phases.until")
	refuse(s.Record.Raw, "one raw file", "leave record.raw out, or run one workload", "record.raw")
	refuse(s.Record.Probe == ProbeOn, "a probe beside them", "make it a workload of its own", "record.probe")
	v.refuse(len(s.Workloads) > mostWorkloads, fmt.Sprintf("%d workloads, a run has at most %d", len(s.Workloads), mostWorkloads), "leave some out", workloadsKey)
	seen, judged := map[string]bool{}, false
	users := map[string]string{} // workload names, by the Existing value they use
	for _, w := range s.Workloads {
		v.refuse(!workloadName.MatchString(w.Name), quote(w.Name)+" is no name of a workload", workloadNames, workloadsKey)
		v.refuse(seen[w.Name], "two workloads are called "+quote(w.Name), "give one another name", workloadsKey)
		seen[w.Name], judged = true, judged || !w.Background
		if other, used := users[w.Existing]; used && w.Existing != "" {
			v.fail("the workloads "+other+" and "+w.Name+" use what exists as "+w.Existing+", where each would receive messages of the other", "give it to one of them", at(w, "existing"))
		}
		users[w.Existing] = w.Name
		v.refuse(w.Messages > 0, "a number of messages would end the window for all workloads", "say how long the load lasts with for", at(w, "messages"))
		v.refuse(w.Background && len(w.Objectives) > 0, "objectives of a background workload, which is not judged", "leave one of them out", at(w, "objectives"))
		if end := w.From + w.For; w.From >= s.Phases.Duration || end > s.Phases.Duration {
			v.fail(fmt.Sprintf("the workload lasts beyond the window of %s", formatDuration(s.Phases.Duration)),
				"lengthen phases.duration, or shorten from and for", at(w, "from"), at(w, "for"))
		}
	}
	v.refuse(!judged, "all workloads are background, so nothing is judged", "leave background out of at least one", workloadsKey)
	if len(v.errs) > 0 {
		return
	}
	for _, p := range s.Parts() {
		one := validator{s: p.Scenario, noConsumers: p.writtenZero()}
		one.part()
		for _, e := range one.errs {
			if rest, ok := strings.CutPrefix(e.Key, "workload."); ok {
				e.Key = strict.Join(strict.Join(workloadsKey, p.Name), rest)
			}
			e.Cause = "workload " + p.Name + ": " + e.Cause
			v.errs = append(v.errs, e)
		}
	}
}

var workloadName = regexp.MustCompile("^[A-Za-z0-9_-]{1,64}$")

const workloadNames = "a name consists of 1 to 64 letters, digits, hyphens and underscores"

// workloads decodes a mapping of workloads.
func (d *decoder) workloads(n *strict.Node, v reflect.Value, key string, depth int) {
	var all Workloads
	for name, value := range d.Entries(n, key, "write a name, and below it the keys of a workload", depth) {
		if !workloadName.MatchString(name.Value) {
			d.Fail(name, key, quote(name.Value)+" is no name of a workload", workloadNames)
			continue
		}
		w := NamedWorkload{}
		d.Value(value, reflect.ValueOf(&w).Elem(), strict.Field{Type: reflect.TypeFor[NamedWorkload]()}, strict.Join(key, name.Value), depth+1)
		w.Name = name.Value
		all = append(all, w)
	}
	v.Set(reflect.ValueOf(all))
}

// workloads encodes workloads as a mapping.
func (e encoder) workloads(all Workloads, key string) *strict.Node {
	n := &strict.Node{Kind: yaml.MappingNode, Tag: "!!map"}
	for _, w := range all {
		n.Content = append(n.Content, textNode(w.Name), e.mapping(reflect.ValueOf(w), strict.Join(key, w.Name)))
	}
	return n
}

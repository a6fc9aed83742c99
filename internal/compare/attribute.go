package compare

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"sixnines/internal/spell"
	"sixnines/result"
)

// attribute is one property of a run besides its measured figures.
type attribute struct {
	name   string
	value  string
	weight Weight
	why    string
	from   origin
}

// origin is where an attribute comes from, which decides whether an ab can have changed it.
type origin int

const (
	elsewhere  origin = iota // the tool, the machine, the clock
	asked                    // the scenario
	effective                // what the driver read back: guarantees and settings
	product                  // which broker
	configured               // how the broker is set up
)

// The reasons for which attributes matter.
const (
	whyPromise   = "weaker guarantees cost less"
	whyMeaning   = "the figures mean different things"
	whyLoad      = "a different load has different latencies"
	whyMeans     = "a different way to the same guarantee, perhaps the subject of the comparison"
	whyActions   = "what happens in a run is part of its figures"
	whyNetwork   = "a longer or worse path has different latencies"
	whySystem    = "perhaps the subject of the comparison"
	whyTool      = "the tool and its clients are part of every figure"
	whyMachine   = "a different machine has different latencies"
	whyShared    = "a broker beside the generator shares its processors"
	whyTail      = "a longer window contains rarer events; a shorter warm-up leaves more of the start-up in the window"
	whyClock     = "time stamps were read from a different clock"
	whyBoot      = "each run used one clock; between the sets the machine was restarted, or it is a different machine"
	whyFloor     = "the machine itself became slower or faster, even without a broker"
	whyRecorded  = "recorded differently"
	whyOtherwise = "for the record"
)

// attributes lists the properties of a run, roughly in order of weight.
func attributes(r run) []attribute {
	h := &r.Header
	var list []attribute
	from := effective
	add := func(w Weight, why, name, value string) {
		if value != "" {
			list = append(list, attribute{name, value, w, why, from})
		}
	}
	s := &h.Semantics
	add(Decisive, whyPromise, durability, s.Durability)
	add(Decisive, whyPromise, replication, s.Replication)
	add(Decisive, whyPromise, acknowledgment, s.Acknowledgment)
	add(Decisive, whyPromise, ordering, s.Ordering)
	add(Decisive, whyPromise, delivery, s.Delivery)
	add(Decisive, whyMeaning, "what an acknowledgement is", h.Ack)
	from = asked
	add(Decisive, whyMeaning, "mode", h.Mode)
	add(Decisive, whyMeaning, "pattern", h.Pattern)
	if h.Rate > 0 {
		add(Decisive, whyLoad, "rate", strconv.FormatFloat(h.Rate, 'f', -1, 64)+"/s")
	}
	if h.Sizes != "" {
		add(Decisive, whyLoad, "size", h.Sizes)
	} else {
		add(Decisive, whyLoad, "size", strconv.FormatInt(h.Size, 10)+" B")
	}
	if h.From > 0 {
		add(Large, whyLoad, "its beginning in the window", spell.Period(h.From))
	}
	add(Large, whyLoad, "workloads beside it", r.company())
	if h.Topic != "" {
		add(Large, whyLoad, "length of the topic's name", spell.Plural(int64(len(h.Topic)), "byte"))
	}
	fields := flat(h.Scenario)
	for _, key := range slices.Sorted(maps.Keys(fields)) {
		if w, why := ofField(key); w != "" {
			add(w, why, strings.TrimPrefix(key, "workload."), fields[key])
		}
	}
	add(Large, whySystem, "driver", h.Driver)
	from = effective
	add(Large, whyMeans, "batching", s.Batching)
	add(Large, whyMeans, "consumption", s.Consumption)
	add(Large, whyMeans, "transport", s.Transport)
	from = product
	add(Large, whyShared, "broker and generator on one host", strconv.FormatBool(h.SameHost))
	if d := h.Deployment; d != nil {
		add(Large, whySystem, "broker product", d.Product)
		add(Large, whySystem, "broker version", d.Version)
		add(Small, whySystem, "broker origin", d.Origin)
		from = configured
		add(Large, whySystem, "broker nodes", strconv.Itoa(d.Nodes))
		named(d.Settings, func(k, v string) { add(Large, whySystem, "broker setting "+k, v) })
	} else {
		from = product
		add(Large, whySystem, "broker", h.Managed)
	}
	named(h.Broker, func(k, v string) {
		from = configured
		if k == "product" || k == "version" {
			from = product
		}
		add(Large, whySystem, "broker "+k, v)
	})
	named(s.Settings, func(k, v string) {
		from = effective
		if name, ok := strings.CutPrefix(k, "server_"); ok { // reported by the server
			if h.Broker[name] == v {
				return // older results have it twice
			}
			from = product
		}
		add(Large, whySystem, "setting "+k, v)
	})
	from = elsewhere
	add(Large, whyTool, "tool version", h.Tool.Version)
	add(Large, whyTool, "tool revision", h.Tool.Revision)
	add(Large, whyTool, "tool Go", h.Tool.Go)
	add(Large, whyClock, "clock", h.Clock.Source)
	for _, f := range h.Machine {
		if w, why := ofFact(f); w != "" {
			add(w, why, f.Section+" "+f.Name, f.Value)
		}
	}
	add(Small, whyBoot, "clock domain", h.Clock.Domain)
	return list
}

// named calls add for each entry of m that is a property. Entries that identify one server
// or connection differ from run to run and are left out.
func named(m map[string]string, add func(k, v string)) {
	for _, k := range slices.Sorted(maps.Keys(m)) {
		words := strings.FieldsFunc(k, func(r rune) bool { return r == '_' || r == ' ' || r == '-' || r == '.' })
		if !slices.ContainsFunc(words, func(w string) bool {
			return slices.Contains([]string{"id", "address", "servers", "host", "port", "url", "pid", "cluster", "name", "uptime", "started"}, w)
		}) {
			add(k, m[k])
		}
	}
}

// ofField returns the weight of a field of the scenario and why it matters; the weight is
// empty for a name, and for a field that another attribute has.
func ofField(key string) (Weight, string) {
	group, rest, _ := strings.Cut(key, ".")
	switch group {
	case "workload":
		switch first, _, _ := strings.Cut(rest, "."); first {
		case "pattern", "rate", "size": // the header has them
			return "", ""
		case "connections", "in_flight", "timeout":
			return Large, whyLoad
		}
		return Decisive, whyLoad
	case "phases":
		if rest == "drain" {
			return Small, whyOtherwise
		}
		return Large, whyTail
	case "target":
		if rest == "driver" || rest == "prefix" { // of which the length matters
			return "", ""
		}
		return Large, whySystem
	case "network":
		return Decisive, whyNetwork
	case "actions":
		return Decisive, whyActions
	case "record":
		return Small, whyRecorded
	case "seed":
		return Small, "other random arrivals, phases and bodies"
	case "name", "description", "version":
		return "", ""
	}
	return Large, whyOtherwise
}

// ofFact returns the weight of a fact about the machine and why it matters; the weight is
// empty for a measurement, and for a fact that another attribute has.
func ofFact(f result.Fact) (Weight, string) {
	switch f.Section + " " + f.Name {
	case "memory available", "memory swap free", "time maximum error", "time clock bracket", "time clock domain", "kernel boot id",
		"go version", "build version", "build revision", "build module":
		return "", ""
	case "limits open files", "limits container", "build revision time":
		return Small, whyOtherwise
	}
	switch f.Section {
	case "module":
		return Large, whyTool
	case "network", "time", "build":
		return Small, whyMachine
	}
	return Large, whyMachine
}

// flat returns the leaves of a JSON object by their dotted paths; none if it cannot be
// read.
func flat(text []byte) map[string]string {
	out := map[string]string{}
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var v any
	if d.Decode(&v) == nil {
		leaves(out, "", v)
	}
	return out
}

func leaves(out map[string]string, path string, v any) {
	switch v := v.(type) {
	case map[string]any:
		for k, x := range v {
			p := k
			if path != "" {
				p = path + "." + k
			}
			leaves(out, p, x)
		}
	case []any:
		text, _ := json.Marshal(v) // it was JSON
		out[path] = string(text)
	default:
		out[path] = fmt.Sprint(v)
	}
}

// design returns the scenario fields of the run and of the workloads beside it, without the
// name and description, and without the seed, which differs from pair to pair.
func (r run) design() map[string]string {
	fields := map[string]string{}
	for _, part := range append([]*result.Run{r.Run}, r.beside...) {
		for key, value := range flat(part.Header.Scenario) {
			if key != "name" && key != "description" && key != "seed" {
				fields[part.Header.Workload+" "+key] = value
			}
		}
	}
	return fields
}

// sameByDesign reports whether all runs of both sets have the same scenario, apart
// from its name, description and seed.
func sameByDesign(sets [2][]run) bool {
	var first map[string]string
	for i := range sets {
		for _, r := range sets[i] {
			fields := r.design()
			if first == nil {
				first = fields
			}
			if !maps.Equal(first, fields) || len(fields) == 0 {
				return false
			}
		}
	}
	return true
}

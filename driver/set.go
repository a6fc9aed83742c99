package driver

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// Entry is one driver in a [Set] with what is known about it before connecting.
type Entry struct {
	Name         string       // "nats"; what a scenario's target.driver says
	Summary      string       // one line for users
	DefaultURL   string       // where the broker usually listens; empty: no usual address
	Schemes      []string     // those that URLs may begin with: "nats" for nats://; empty: any
	InProcess    bool         // the broker is part of the driver, within this process
	Capabilities Capabilities // with the default options, see With
	Naming       Naming       // of what the driver makes and uses at the broker
	// Rights returns what the account of runs with the prefix needs, and no more; an empty prefix
	// means names that begin with Mark. Nil: the driver cannot say.
	Rights func(prefix string) []Right
	// Options is a pointer to the driver's options struct holding the
	// defaults, see [DescribeOptions]. Nil: the driver has none.
	Options any
	// ProbeOptions replace, for a probe beside a load, those given options that make
	// sense for the load's topics only; a nil value stands for the option's default.
	ProbeOptions map[string]any
	// Monitoring is the option for the address of the broker's monitoring. It is set if
	// the broker is started for the run; empty: the driver has no such option.
	Monitoring string
	Driver     Driver
}

// With returns the driver's capabilities with these options. Options that cannot be decoded
// change nothing, since Open refuses them.
func (e Entry) With(options map[string]any) Capabilities {
	c := e.Capabilities
	if _, can := e.Options.(Adjuster); !can {
		return c
	}
	defaults := reflect.ValueOf(e.Options).Elem()
	o := reflect.New(defaults.Type())
	o.Elem().Set(defaults)
	if DecodeOptions(options, o.Interface()) == nil {
		o.Interface().(Adjuster).Adjust(&c)
	}
	return c
}

// Secret reports whether the driver says that the value of an option must not be
// shown or written down.
func (e Entry) Secret(option string) bool {
	if e.Options == nil {
		return false
	}
	return fieldsOf(structOf(e.Options))[option].tag.Get("secret") == "true"
}

// Set is an immutable list of drivers, safe for concurrent use. It replaces a global
// registry: all drivers are listed in one visible place (drivers/all).
type Set struct{ entries []Entry }

// NewSet returns the set of the entries. It panics on a duplicate or empty
// name, which is a mistake in the program.
func NewSet(entries ...Entry) Set {
	seen := map[string]bool{}
	for _, e := range entries {
		if e.Name == "" || e.Driver == nil || seen[e.Name] {
			panic(fmt.Sprintf("driver: entry %q is empty or listed twice", e.Name))
		}
		seen[e.Name] = true
	}
	s := Set{entries: slices.Clone(entries)}
	slices.SortFunc(s.entries, func(a, b Entry) int { return strings.Compare(a.Name, b.Name) })
	return s
}

// Lookup returns the entry called name; false: the set has none.
func (s Set) Lookup(name string) (Entry, bool) {
	for _, e := range s.entries {
		if e.Name == name {
			return e, true
		}
	}
	return Entry{}, false
}

// Entries returns all entries, sorted by name, in a new slice.
func (s Set) Entries() []Entry { return slices.Clone(s.entries) }

// Names returns all names, sorted.
func (s Set) Names() []string {
	names := make([]string, len(s.entries))
	for i, e := range s.entries {
		names[i] = e.Name
	}
	return names
}

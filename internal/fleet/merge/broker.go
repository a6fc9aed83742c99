package merge

import (
	"maps"
	"reflect"
	"slices"
	"strings"

	"sixnines/result"
)

// Each agent describes the server that its own connection reached. The servers of a cluster have names and addresses of their
// own, and of a server under load some facts change. So nothing that an agent says of the broker keeps results from being
// merged: the whole has what all say, and each agent what of its own is not that.

// describe gives a header what all agents say of the broker, and each agent what only it says.
func describe(h *result.Header, all []*result.Header) {
	h.Broker, h.Semantics = maps.Clone(h.Broker), semanticsOf(h.Semantics, all)
	maps.DeleteFunc(h.Broker, func(name, value string) bool {
		return slices.ContainsFunc(all, func(x *result.Header) bool { return x.Broker[name] != value })
	})
	for i, x := range all {
		a := &h.Fleet.Agents[i]
		for name, value := range x.Broker {
			if h.Broker[name] != value {
				if a.Broker == nil {
					a.Broker = map[string]string{}
				}
				a.Broker[name] = value
			}
		}
		if !reflect.DeepEqual(x.Semantics, h.Semantics) {
			s := x.Semantics
			a.Semantics = &s
		}
	}
}

// semanticsOf returns what of the semantics all agents have, from those of one of them: its levels, which the verdict compares
// with those of others, settings that all have, the warnings of all, and of what is said in words all that is said.
func semanticsOf(s result.Semantics, all []*result.Header) result.Semantics {
	s.Settings, s.Warnings = maps.Clone(s.Settings), slices.Clone(s.Warnings)
	words := func(of func(*result.Semantics) *string) {
		said := []string{*of(&s)}
		for _, x := range all {
			if text := *of(&x.Semantics); !slices.Contains(said, text) {
				said = append(said, text)
			}
		}
		*of(&s) = strings.Join(said, "; ")
	}
	words(func(s *result.Semantics) *string { return &s.Durability })
	words(func(s *result.Semantics) *string { return &s.Replication })
	words(func(s *result.Semantics) *string { return &s.Acknowledgment })
	words(func(s *result.Semantics) *string { return &s.Ordering })
	words(func(s *result.Semantics) *string { return &s.Delivery })
	words(func(s *result.Semantics) *string { return &s.Batching })
	words(func(s *result.Semantics) *string { return &s.Consumption })
	words(func(s *result.Semantics) *string { return &s.Transport })
	for _, x := range all {
		s.Encrypted = s.Encrypted && x.Semantics.Encrypted
		maps.DeleteFunc(s.Settings, func(name, value string) bool {
			other, ok := x.Semantics.Settings[name]
			return !ok || other != value
		})
		for _, w := range x.Semantics.Warnings {
			if !slices.Contains(s.Warnings, w) {
				s.Warnings = append(s.Warnings, w)
			}
		}
	}
	return s
}

package report

import "slices"

// Part is a piece of the full report of a run that a terminal shows beside its
// first screen when it is asked for.
type Part struct {
	Name  string // as on the command line
	About string // a few words
	of    func(s *subject) document
}

// Parts lists them in the order in which they are shown.
func Parts() []Part {
	several := func(of func(*subject) []*table) func(*subject) document {
		return func(s *subject) document { return s.named(of(s)...) }
	}
	one := func(of func(*subject) *table) func(*subject) document {
		return func(s *subject) document { return s.named(of(s)) }
	}
	percentiles := func(wanted func(family) bool) func(*subject) document {
		return func(s *subject) document { return percentilesOf([]*subject{s}, inTerminal, wanted) }
	}
	return []Part{
		{"reasons", "all reasons of the verdict", func(s *subject) document { return document{verdictOf(s, false, false, inTerminal)} }},
		{"objectives", "the outcome of each objective", one(objectivesTable)},
		{"latencies", "all percentiles of all latencies", percentiles(func(f family) bool { return f.Key != "lag" })},
		{"lag", "the generator's own delay, and what blocked it", percentiles(func(f family) bool { return f.Key == "lag" })},
		{"agents", "what each agent of a fleet recorded itself", one(agentsTable)},
		{"actions", "planned actions, when they happened and how long they lasted", several(func(s *subject) []*table { return []*table{actionsTable(s), networkTable(s)} })},
		{"costs", "what actions cost in latency, availability and messages", several(costTables)},
		{"events", "reports of the broker and its client", one(eventsTable)},
		{"steady", "how p50 and p99 developed over the window", one(steadyTable)},
		{"causes", "likely causes of the slowest messages", several(attributionTables)},
		{"stages", "where the time of a message goes", one(stageTable)},
		{"tail", "the slowest messages, and the uncertainty of the tail", several(func(s *subject) []*table {
			return append([]*table{blocksTable(s)}, tailTables(s)...)
		})},
		{"accounts", "the fate of the messages", messageLines},
		{"setup", "guarantees, settings, the broker, cold figures", setupLines},
	}
}

// findings are the tables of one run that every full report has, the most
// telling first. Objectives stand apart: beside the verdict.
func findings(s *subject) []*table {
	out := append([]*table{agentsTable(s), actionsTable(s), networkTable(s)}, costTables(s)...)
	out = append(append(out, eventsTable(s), steadyTable(s)), attributionTables(s)...)
	out = append(out, stageTable(s), blocksTable(s))
	out = append(out, tailTables(s)...)
	return slices.DeleteFunc(append(out, peopleTable(s)), func(x *table) bool { return x == nil })
}

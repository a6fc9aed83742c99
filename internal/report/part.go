package report

// Part is a piece of the full report of a run that a terminal shows beside its
// first screen when it is asked for.
type Part struct {
	Name  string // as on the command line
	About string // a few words
	write func(p *printer, s *subject)
}

// Parts lists them in the order in which they are shown.
func Parts() []Part {
	sections := func(of func(*subject) []*section) func(*printer, *subject) {
		return func(p *printer, s *subject) {
			for _, x := range of(s) {
				terminalSection(p, x, s.of())
			}
		}
	}
	one := func(of func(*subject) *section) func(*printer, *subject) {
		return sections(func(s *subject) []*section { return []*section{of(s)} })
	}
	return []Part{
		{"reasons", "all that the verdict found", func(p *printer, s *subject) {
			p.blank()
			terminalVerdict(p, s)
		}},
		{"objectives", "what was found of each objective", one(objectivesSection)},
		{"latencies", "all percentiles of all latencies", func(p *printer, s *subject) {
			terminalTables(p, s, func(f family) bool { return f.Key != "lag" })
			terminalFloor(p, s)
		}},
		{"lag", "the generator's own delay, and what blocked it", func(p *printer, s *subject) {
			terminalTables(p, s, func(f family) bool { return f.Key == "lag" })
		}},
		{"steady", "how p50 and p99 went on over the window", one(steadySection)},
		{"causes", "likely causes of the slowest messages", sections(attributionSections)},
		{"stages", "where the time of a message goes", one(stageSection)},
		{"tail", "the slowest messages, and how sure the tail is", func(p *printer, s *subject) {
			terminalSection(p, blocksSection(s), s.of())
			for _, x := range tailSections(s) {
				terminalSection(p, x, s.of())
			}
		}},
		{"accounts", "what became of the messages", func(p *printer, s *subject) {
			terminalMessages(p, s)
			terminalKept(p, s)
		}},
		{"setup", "guarantees, settings, the broker, cold figures", terminalSetting},
	}
}

package network

import "sixnines/internal/journal"

// Names of what a process that was killed leaves in the kernel.
const (
	rulesKind      = "network rules"
	disciplineKind = "network discipline"
	segmentsKind   = "network segments"
)

// Kinds are what this package notes in a journal.
func Kinds() []journal.Kind {
	return []journal.Kind{
		{Name: rulesKind, New: func() journal.Undoing { return new(rules) }},
		{Name: disciplineKind, New: func() journal.Undoing { return new(discipline) }},
		{Name: segmentsKind, New: func() journal.Undoing { return new(segments) }},
	}
}

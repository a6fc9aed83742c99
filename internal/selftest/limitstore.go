package selftest

import (
	"fmt"
	"slices"
	"time"

	"sixnines/result"
)

// LimitFile is the name of the file of the generator's limits below the home.
const LimitFile = "limits.jsonl"

// LimitStore keeps the limits of generators in a file of JSON lines, one for each
// machine. The file is replaced atomically: of concurrent writers the last one wins.
type LimitStore struct{ Path string }

// KeptLimits are the limits of one machine.
type KeptLimits struct {
	Machine MachineKey `json:"machine"`
	At      time.Time  `json:"at"` // when they were measured
	// Disturbed is what disturbed the machine during the measurement; empty: nothing.
	Disturbed string  `json:"disturbed,omitempty"`
	Limits    []Limit `json:"limits"`
}

// read returns the valid lines of the file. A missing file counts as empty.
func (s LimitStore) read() ([]KeptLimits, error) {
	all, _, err := readLines(s.Path, func(k *KeptLimits) bool { return len(k.Limits) > 0 && !k.At.IsZero() })
	if err != nil {
		return nil, fmt.Errorf("read the generator's limits: %w", err)
	}
	return all, nil
}

// Keep replaces a machine's limits. Limits measured while the machine was disturbed
// do not replace undisturbed ones that are not too old: kept is then false.
func (s LimitStore) Keep(k KeptLimits) (kept bool, err error) {
	all, err := s.read()
	if err != nil {
		return false, err
	}
	same := func(o KeptLimits) bool { return o.Machine == k.Machine }
	if k.Disturbed != "" && slices.ContainsFunc(all, func(o KeptLimits) bool {
		return same(o) && o.Disturbed == "" && k.At.Sub(o.At) < FloorMaxAge
	}) {
		return false, nil
	}
	all = append(slices.DeleteFunc(all, same), k)
	if err := writeLines(s.Path, all); err != nil {
		return false, fmt.Errorf("keep the generator's limits: %w", err)
	}
	return true, nil
}

// Find returns a machine's limits, nil if it has none that are at most [FloorMaxAge] old. It
// ignores damaged lines.
func (s LimitStore) Find(m MachineKey, now time.Time) (*KeptLimits, error) {
	all, err := s.read()
	for _, k := range all {
		if k.Machine == m && now.Sub(k.At) <= FloorMaxAge {
			return &k, nil
		}
	}
	return nil, err
}

// For returns the limit for a load with a size (bytes) and a number of producers'
// connections, or nil. The limit was measured with a number of connections within a
// factor of two, and with payloads of at most twice the size: a limit of larger
// payloads would be too low. Of several it is that of the nearest number of
// connections, and of those that of the largest payloads.
func (k *KeptLimits) For(size int64, connections int) *result.GeneratorLimit {
	var found *result.GeneratorLimit
	nearest := float64(floorReach)
	for _, l := range k.Limits {
		if l.Connections < 1 || connections < 1 || l.Size > floorReach*size {
			continue
		}
		by := ratio(float64(l.Connections), float64(connections))
		if by > nearest || found != nil && by == nearest && l.Size < found.Size {
			continue
		}
		nearest = by
		found = &result.GeneratorLimit{At: k.At, Size: l.Size, Connections: l.Connections, Rate: l.Rate, Above: l.Above, Disturbed: k.Disturbed}
	}
	return found
}

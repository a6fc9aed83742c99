package selftest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"time"

	"sixnines/internal/filelock"
	"sixnines/result"
)

// FloorFile is the name of the file of noise floors below the home.
const FloorFile = "floors.jsonl"

// FloorMaxAge is how long a floor is used. A machine's floor changes with updates and with
// other loads on its host, without notice.
const FloorMaxAge = 30 * 24 * time.Hour

// floorReach is the factor by which rate and size of a load may differ from those of
// a floor that is used for it. The null broker's latency changes little with either
// as long as no queue forms: twice the rate is still far from saturation, and
// payloads within a factor of two cost the same system calls. Beyond it larger
// payloads cost copies and segments, and the rate changes how deeply processors
// sleep.
const floorReach = 2

// linesKept is the largest number of lines in a store; older ones are dropped.
const linesKept = 200

// FloorStore keeps noise floors in a file of JSON lines. The zero value is not
// usable. The file is replaced atomically: of concurrent writers the last one wins.
type FloorStore struct{ Path string }

// keptFloor is one line of the file.
type keptFloor struct {
	Machine MachineKey `json:"machine"`
	// Disturbed is what disturbed the machine during the measurement; empty: nothing.
	Disturbed string       `json:"disturbed,omitempty"`
	Floor     result.Floor `json:"floor"`
}

// read returns the valid lines of the file, oldest first, and the number of damaged
// ones. A missing file counts as empty.
func (s FloorStore) read() (floors []keptFloor, damaged int, err error) {
	floors, damaged, err = readLines(s.Path, (*keptFloor).sound)
	if err != nil {
		return nil, 0, fmt.Errorf("read noise floors: %w", err)
	}
	slices.SortStableFunc(floors, func(a, b keptFloor) int { return a.Floor.At.Compare(b.Floor.At) })
	return floors, damaged, nil
}

// sound reports whether a line has a floor.
func (f *keptFloor) sound() bool {
	return f.Floor.Pattern != "" && f.Floor.Rate > 0 && !math.IsInf(f.Floor.Rate, 0) && f.Floor.Size > 0 && len(f.Floor.Percentiles) > 0 && !f.Floor.At.IsZero()
}

// Keep adds a floor of a machine and removes an older one of the same load. A floor
// measured while the machine was disturbed (disturbed says by what) does not
// replace an undisturbed one that is not too old: kept is then false. Keep drops
// damaged lines from the file; damaged is their number.
func (s FloorStore) Keep(m MachineKey, f result.Floor, disturbed string) (kept bool, damaged int, err error) {
	all, damaged, err := s.read()
	if err != nil {
		return false, 0, err
	}
	entry := keptFloor{m, disturbed, f}
	same := func(o keptFloor) bool {
		return o.Machine == m && o.Floor.Pattern == f.Pattern && o.Floor.Rate == f.Rate && o.Floor.Size == f.Size
	}
	if disturbed != "" && slices.ContainsFunc(all, func(o keptFloor) bool {
		return same(o) && o.Disturbed == "" && f.At.Sub(o.Floor.At) < FloorMaxAge
	}) {
		return false, damaged, nil
	}
	all = append(slices.DeleteFunc(all, same), entry)
	if err := writeLines(s.Path, all); err != nil {
		return false, damaged, fmt.Errorf("keep a noise floor: %w", err)
	}
	return true, damaged, nil
}

// readLines returns the sound lines of a file of JSON lines, and the number of the
// others. A missing file counts as empty.
func readLines[T any](path string, sound func(*T) bool) (all []T, damaged int, err error) {
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, 0, nil
	}
	if err != nil {
		return nil, 0, err
	}
	for line := range bytes.Lines(text) {
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		var v T
		if err := json.Unmarshal(line, &v); err != nil || !sound(&v) {
			damaged++
			continue
		}
		all = append(all, v)
	}
	return all, damaged, nil
}

// writeLines replaces the file by the last linesKept of all.
func writeLines[T any](path string, all []T) error {
	var text bytes.Buffer
	for _, v := range all[max(0, len(all)-linesKept):] {
		line, err := json.Marshal(v)
		if err != nil {
			return err
		}
		text.Write(append(line, '\n'))
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return filelock.Replace(path, 0o600, func(w io.Writer) error { _, err := text.WriteTo(w); return err })
}

// Found is the result of [FloorStore.Find].
type Found struct {
	// Floor is the floor to show, or nil.
	Floor *result.Floor
	// Note qualifies Floor, or says why an existing floor is not used; for users, one
	// line, may be empty.
	Note string
	// Damaged is the number of lines that could not be read.
	Damaged int
}

// Find returns the floor for a load: of the same machine, kernel and pattern, with
// rate (messages a second) and size (bytes) within a factor of two, and at most
// [FloorMaxAge] old. Of several it is the one with the nearest load, and of those
// the newest.
func (s FloorStore) Find(m MachineKey, pattern string, rate float64, size int64, now time.Time) (Found, error) {
	all, damaged, err := s.read()
	found := Found{Damaged: damaged}
	if err != nil || rate <= 0 || size <= 0 {
		return found, err
	}
	nearest := math.Inf(1)
	var disturbed, stale string
	for _, f := range slices.Backward(all) {
		here := f.Machine
		here.Kernel = m.Kernel
		by := max(ratio(f.Floor.Rate, rate), ratio(float64(f.Floor.Size), float64(size)))
		if here != m || f.Floor.Pattern != pattern || by > floorReach {
			continue
		}
		const again = "; measure it anew with sixnines selftest --only floor"
		switch age := now.Sub(f.Floor.At); {
		case f.Machine.Kernel != m.Kernel:
			if stale == "" {
				stale = "the noise floor of this load was measured under another kernel (" + f.Machine.Kernel + ") and is not shown" + again
			}
			continue
		case age > FloorMaxAge:
			if stale == "" {
				stale = fmt.Sprintf("the noise floor of this load is %d days old and is not shown%s", int(age.Hours()/24), again)
			}
			continue
		}
		if by < nearest {
			nearest, found.Floor, disturbed = by, &f.Floor, f.Disturbed
		}
	}
	switch {
	case found.Floor == nil:
		found.Note = stale
	case disturbed != "":
		found.Note = "the noise floor was measured while " + disturbed + ": it may be too high"
	}
	return found, nil
}

// ratio returns the larger of a and b divided by the smaller, both above zero.
func ratio(a, b float64) float64 { return max(a, b) / min(a, b) }

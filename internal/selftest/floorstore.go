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

// FloorMaxAge is how long a floor is used. A machine changes with its updates and with
// other loads on its host, and nothing reports that.
const FloorMaxAge = 30 * 24 * time.Hour

// floorReach is by what factor rate and size of a load may differ from those
// that a floor was measured under. Latency of the null broker changes
// little with either as long as no queue forms: twice the rate of a load that
// is far from saturation is the same path, and payloads within a factor of two
// cost the same system calls. Beyond it the size begins to cost copies and
// segments, and the rate begins to change how deep processors sleep.
const floorReach = 2

// linesKept is how many floors, or machines' limits, a store has, the newest.
const linesKept = 200

// FloorStore keeps noise floors in a file of JSON lines. The zero value is not
// usable; concurrent writers leave one's whole file, never a mixture.
type FloorStore struct{ Path string }

// keptFloor is one line of the file.
type keptFloor struct {
	Machine MachineKey `json:"machine"`
	// Disturbed is what disturbed the machine meanwhile; empty: nothing.
	Disturbed string       `json:"disturbed,omitempty"`
	Floor     result.Floor `json:"floor"`
}

// read returns what can be read of the file, oldest first, and how many of its
// lines cannot. A file that is not there is empty.
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

// Keep adds a floor of a machine, in place of an older one under the same load.
// One that was measured while the machine was disturbed (disturbed says by
// what) does not take the place of one that was not, while that is still used.
// Lines that cannot be read are left out; damaged says how many they were. kept
// is false if an undisturbed one stayed.
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

// readLines returns what a file of JSON lines has, and how many of its lines
// have nothing sound. A file that is not there is empty.
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

// writeLines writes the last of all, at most as many as a file has.
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

// Found is what a store has for a load.
type Found struct {
	// Floor is the one to show, or nil.
	Floor *result.Floor
	// Note says what must be known of Floor, or why one that is there is not
	// used; for users, one line, may be empty.
	Note string
	// Damaged lines could not be read.
	Damaged int
}

// Find looks for the floor of a load: of the same machine, kernel and pattern,
// of rate and size (bytes) within a factor of two, and no older than
// [FloorMaxAge] before now. Of several it is the one whose load is nearest, and
// of these the newest.
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

// ratio returns how many times the larger is the smaller, both above zero.
func ratio(a, b float64) float64 { return max(a, b) / min(a, b) }

//go:build !linux

package vitals

import (
	"errors"
	"io/fs"
	"slices"
	"time"
)

// errNotHere is why most things are missing outside Linux.
var errNotHere = errors.New("not available here")

// platformOpeners lists what would be read elsewhere, so that it shows up as
// missing.
func platformOpeners() []opener {
	own := append(runtimeOpener().names, NameHiccupThreadP99, NameHiccupThreadMax, NameHiccupGoroutineP99, NameHiccupGoroutineMax,
		NameHiccupPauses, NameHiccupPausesDropped)
	var names []string
	for _, d := range Describe() {
		if !slices.Contains(own, d.Name) {
			names = append(names, d.Name)
		}
	}
	return []opener{{
		names: names,
		open:  func() (source, error) { return nil, errNotHere },
	}}
}

// noFiles is a root in which nothing can be read.
type noFiles struct{}

// Open fails.
func (noFiles) Open(name string) (fs.File, error) {
	return nil, &fs.PathError{Op: "open", Path: name, Err: errNotHere}
}

// hostRoot has no files: the layout known here is Linux's.
func hostRoot() fs.FS { return noFiles{} }

func nofileLimit() (soft, hard uint64, err error) { return 0, 0, errNotHere }

func realtimeLimit() (uint64, error) { return 0, errNotHere }

func clockSync() (syncState, error) { return syncState{}, errNotHere }

func latencyControl() error { return errNotHere }

func ethtool() nic { return nil }

func slept() (time.Duration, error) { return 0, errNotHere }

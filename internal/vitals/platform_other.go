//go:build !linux

package vitals

import (
	"errors"
	"io/fs"
	"sixnines/result"
	"slices"
	"time"
)

// errNotHere is why most things are missing outside Linux.
var errNotHere = errors.New("not available here")

// platformOpeners lists the values that only Linux has, so that they are reported as
// missing.
func platformOpeners() []opener {
	own := append(runtimeOpener().names, result.VitalHiccupThreadP99, result.VitalHiccupThreadMax, result.VitalHiccupGoroutineP99, result.VitalHiccupGoroutineMax,
		result.VitalHiccupPauses, result.VitalHiccupPausesDropped)
	var names []result.Vital
	for _, d := range describe() {
		if !slices.Contains(own, d.Vital) {
			names = append(names, d.Vital)
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

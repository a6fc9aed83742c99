//go:build unix

package cli

import (
	"path/filepath"
	"strconv"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"sixnines/result"
)

// cmdOverlap: overlap GLOB N wants the N results of a glob to be pairs of the same time: windows of one round that overlap by more
// than half, while those of different rounds do not overlap.
func cmdOverlap(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: overlap GLOB N")
	}
	files, err := filepath.Glob(ts.MkAbs(args[0]))
	ts.Check(err)
	type window struct {
		round    int
		from, to time.Time
		name     string
	}
	var all []window
	for _, file := range files {
		run, err := result.Load(file)
		ts.Check(err)
		t := run.Header.Trial
		if t == nil || !t.Beside || t.Design == nil || t.Design.Kind != result.DesignBeside {
			ts.Fatalf("%s does not say that it was made at the same time as another run", file)
		}
		all = append(all, window{round: t.Index, from: run.Header.Started, to: run.Header.Started.Add(time.Duration(run.Summary.End)), name: file})
	}
	if got := len(all); args[1] != strconv.Itoa(got) {
		ts.Fatalf("%d results, want %s", got, args[1])
	}
	for i, a := range all {
		partners := 0
		for k, b := range all {
			if i == k {
				continue
			}
			common := min(a.to.Sub(b.from), b.to.Sub(a.from), a.to.Sub(a.from))
			switch {
			case a.round == b.round && common > a.to.Sub(a.from)/2:
				partners++
			case common > 0:
				ts.Fatalf("%s and %s overlap by %v", a.name, b.name, common)
			}
		}
		if partners != 1 {
			ts.Fatalf("%s overlaps with %d of its round", a.name, partners)
		}
	}
}

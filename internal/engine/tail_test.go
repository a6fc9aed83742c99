package engine

import (
	"cmp"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"sixnines/drivers/mem"
	"sixnines/drivers/nats"
	"sixnines/internal/engine/observe"
	"sixnines/internal/judge/judgetest"
	"sixnines/result"
)

// rawRows reads the rows of one kind.
func rawRows(t *testing.T, path string, kind result.RawKind) (rows []result.RawRow) {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	reader, err := result.NewRawReader(f)
	if err != nil {
		t.Fatal(err)
	}
	for {
		row, err := reader.Next()
		if errors.Is(err, io.EOF) {
			return rows
		}
		if err != nil {
			t.Fatal(err)
		}
		if row.Kind == kind {
			rows = append(rows, row)
		}
	}
}

// The slowest messages are those that the raw file says were the slowest, each
// with the instants that it has there.
func TestExemplarsAreTheSlowestOfTheRawFile(t *testing.T) {
	t.Parallel()
	b := startNATS(t)
	for _, tt := range []struct {
		name, text string
		kinds      map[result.Metric]result.RawKind
	}{
		{"deliveries and acknowledgements", `
phases: {warmup: 100ms, duration: 500ms}
target: {driver: mem, options: {delay: 1ms, jitter: 2ms, ack: broker, ack_delay: 1ms}}
workload: {rate: 2000/s, producers: 3, consumers: 2}
record: {raw: true}
`, map[result.Metric]result.RawKind{result.DeliveryResponse: result.RawReceived, result.PublishResponse: result.RawAcked}},
		{"replies", `
phases: {warmup: 100ms, duration: 500ms}
workload: {rate: 1000/s, producers: 3, pattern: request-reply}
record: {raw: true}
`, map[result.Metric]result.RawKind{result.RoundTripResponse: result.RawReplied}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			file := filepath.Join(t.TempDir(), "run.jsonl")
			c := Config{Scenario: parse(t, tt.text), Entry: nats.Entry(), URL: b.URL, File: file}
			if c.Scenario.Target.Driver == "mem" {
				c.Entry, c.URL = mem.Entry(), ""
			}
			r, err := Run(t.Context(), c)
			if err != nil {
				t.Fatal(err)
			}
			r = judgetest.Verified(t, r, file)
			seen := 0
			for metric, kind := range tt.kinds {
				rows := rawRows(t, observe.RawPath(file), kind)
				// Those of the warm-up are not in the distribution.
				rows = slices.DeleteFunc(rows, func(w result.RawRow) bool { return w.Intended < 0 || w.Intended >= r.Summary.End })
				slices.SortFunc(rows, func(a, b result.RawRow) int { return cmp.Compare(b.Instant-b.Intended, a.Instant-a.Intended) })
				var tail []result.Exemplar
				for _, x := range r.Tail {
					if x.Metric == metric {
						tail = append(tail, x)
					}
				}
				if len(tail) != observe.TailKept {
					t.Fatalf("%s: %d exemplars", metric, len(tail))
				}
				for i, x := range tail {
					if want := rows[i].Instant - rows[i].Intended; x.Value != want {
						t.Fatalf("%s: the slowest but %d took %d, by the raw file %d", metric, i, x.Value, want)
					}
					found := slices.ContainsFunc(rows, func(w result.RawRow) bool {
						party := x.Consumer
						if party < 0 {
							party = int(w.Party)
						}
						return int(w.Stream) == x.Producer && int(w.Party) == party && uint64(w.Seq) == x.Sequence &&
							w.Intended == x.Intended && w.Sent == x.Sent && w.Instant == x.Done
					})
					if !found || x.Topic != "t0" || x.Partition != -1 || x.Own < 0 || x.Own > x.Sent-x.Intended {
						t.Fatalf("%s: the raw file has no such row: %+v", metric, x)
					}
				}
				seen += len(tail)
			}
			if len(r.Tail) != seen {
				t.Errorf("%d exemplars, %d of the metrics there should be", len(r.Tail), seen)
			}
		})
	}
}

// A message that was never resolved ranks as slower than all that were.
func TestUnresolvedIsTheSlowest(t *testing.T) {
	r := measure(t, `
phases: {warmup: 100ms, duration: 500ms, drain: 200ms}
target: {driver: mem, options: {lose: 7}}
workload: {rate: 1000/s}
`, mem.Entry(), "")
	if len(r.Tail) != observe.TailKept {
		t.Fatalf("%d exemplars", len(r.Tail))
	}
	for i, x := range r.Tail {
		lost := x.Sent == observe.UnknownInstant
		if lost != (i < 7) || lost != (x.Consumer == -1) || x.Done-x.Intended != x.Value {
			t.Errorf("%d: %+v", i, x)
		}
		if lost && x.Done < r.Summary.End {
			t.Errorf("given up on at %d, before the window's end at %d", x.Done, r.Summary.End)
		}
	}
}

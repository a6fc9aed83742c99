package enginetest

import (
	"errors"
	"io"
	"os"
	"testing"

	"sixnines/internal/judge"
	"sixnines/internal/numbers"
	"sixnines/result"
)

// What producing agents send, consuming agents receive, each message once, and the ledgers in their results say which.
// Each result is VALID and verifies by itself. Messages of the warm-up, and those after the window, are not measured.
func TestCrewReceivesWhatItSends(t *testing.T) {
	files := Crew(t, Load{Scenario: "target: {options: {ack: broker, delay: 3ms, ack_delay: 1ms}}\nphases: {warmup: 200ms, duration: 2s, drain: 500ms}\nrecord: {interval: 100ms}\n" +
		"workload: {rate: 1k, producers: 4, topics: 2, consumers: 4, groups: 1, size: '256B:90%,4KiB:10%'}\n"}, 2, 2)
	sent, received := map[int]numbers.Set{}, map[int]numbers.Set{}
	var counters result.Counters
	parse := func(text string) numbers.Set {
		s, err := numbers.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	for k, f := range files {
		run, err := result.Load(f)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range judge.Verify(run, run.Header.Tool) {
			t.Errorf("%s: %s", f, p)
		}
		if run.Summary.Verdict.Status != result.Valid {
			t.Errorf("agent %d: %s", k, run.Summary.Verdict)
		}
		counters.Add(run.Counters)
		firsts := map[int][2]uint64{}
		for _, l := range ledgers(t, f) {
			for _, x := range l.Sent {
				firsts[x.Stream] = [2]uint64{x.First, x.First + uint64(x.Taken)}
				acked := sent[x.Stream]
				acked.Union(parse(x.Acked))
				sent[x.Stream] = acked
			}
			for _, x := range l.Received {
				all, more := received[x.Stream], parse(x.New)
				if n := all.Both(more).Len(); n > 0 {
					t.Errorf("%d numbers of stream %d came twice", n, x.Stream)
				}
				all.Union(more)
				received[x.Stream] = all
			}
		}
		for stream, r := range firsts {
			if n := sent[stream].Within(r[0], r[1]).Len(); n != int64(r[1]-r[0]) {
				t.Errorf("of %d messages of stream %d %d were acknowledged", r[1]-r[0], stream, n)
			}
		}
	}
	if counters.Sent != 2000 || counters.Received != 2000 || counters.BytesSent != counters.BytesRecv {
		t.Errorf("%+v", counters)
	}
	if len(sent) != 4 {
		t.Errorf("%d streams", len(sent))
	}
	for stream := range sent {
		missing := sent[stream].Clone()
		if missing.Without(received[stream]); missing.Len() > 0 {
			t.Errorf("%d messages of stream %d were acknowledged and not received", missing.Len(), stream)
		}
	}
}

// ledgers returns those of a result file.
func ledgers(t *testing.T, path string) (all []*result.Ledger) {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for r := result.NewReader(f); ; {
		record, err := r.Next()
		if errors.Is(err, io.EOF) {
			return all
		}
		if err != nil {
			t.Fatal(err)
		}
		if v := record.Interval; v != nil && v.Ledger != nil {
			all = append(all, v.Ledger)
		}
	}
}

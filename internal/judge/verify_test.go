package judge

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"sixnines/internal/rawfile"
	"sixnines/internal/resultfile"
	"sixnines/result"
)

// saved writes the records of a testbed, with the summary computed from them,
// and loads the file.
func saved(t *testing.T, b *testbed) *result.Run {
	t.Helper()
	path := filepath.Join(t.TempDir(), "r.jsonl")
	w, err := resultfile.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(w.Header(b.header))
	for _, i := range b.intervals {
		must(w.Interval(*i.record(t).Interval))
	}
	must(w.Summary(*b.summed(t).Summary))
	must(w.Close())
	run, err := result.Load(path)
	must(err)
	return run
}

func mixed() []msg {
	ms := healthyMessages()
	stall(ms, 7e9, 500e6, func(m *msg, d int64) { m.service += d })
	for i := 100; i < 117; i++ {
		ms[i].missing = true
	}
	return ms
}

func TestVerifyAgreesWithWhatWasWritten(t *testing.T) {
	run := saved(t, newTestbed(mixed()))
	if p := problemsOf(run); len(p) != 0 {
		t.Errorf("problems: %v", p)
	}
	if run.Summary.Histograms[result.DeliveryResponse].Censored != 17 {
		t.Errorf("%+v", run.Summary.Histograms[result.DeliveryResponse])
	}
}

// Any figure that is changed is found under its own name.
// A long pause made a run of earlier versions INVALID.
func TestVerifyOfAnEarlierVersionsPause(t *testing.T) {
	for _, earlier := range []bool{false, true} {
		b := newTestbed(mixed())
		b.intervals[4].v.Pauses = []result.Pause{{Start: 4e9, End: 4e9 + 120e6, Source: result.PauseProcess}}
		run := b.run(t)
		run.Summary = Summarise(run, Inputs{stopsInvalidate: earlier})
		if r := find(run.Summary.Verdict, "frozen"); r == nil || (r.Status == result.Invalid) != earlier {
			t.Fatalf("%+v", run.Summary.Verdict)
		}
		if found := problemsOf(run); len(found) > 0 {
			t.Errorf("earlier %v: %v", earlier, found)
		}
		run.Summary.Verdict.Status = result.Valid
		if earlier && len(problemsOf(run)) == 0 {
			t.Error("a changed verdict was not found")
		}
	}
}

func TestVerifyNamesEveryChange(t *testing.T) {
	at := func(s *result.Summary, p string, change func(*result.Figure)) {
		s.Histograms[result.DeliveryResponse].Update(result.Percentile(p), change)
	}
	changes := map[string]func(*result.Summary){
		"counters.acked":    func(s *result.Summary) { s.Counters.Acked++ },
		"rate.worst_second": func(s *result.Summary) { s.Rate.WorstSecond *= 0.999 },
		"histograms.delivery.response.percentiles.99.9": func(s *result.Summary) { at(s, "99.9", func(f *result.Figure) { f.Value-- }) },
		"histograms.delivery.response.intervals.99":     func(s *result.Summary) { at(s, "99", func(f *result.Figure) { f.Interval.Low = 1 }) },
		"histograms.delivery.response.own_share.50":     func(s *result.Summary) { at(s, "50", func(f *result.Figure) { *f.OwnShare += 0.001 }) },
		"histograms.delivery.response.episodes.99":      func(s *result.Summary) { at(s, "99", func(f *result.Figure) { f.Episodes = 0 }) },
		"histograms.delivery.service.mean":              func(s *result.Summary) { s.Histograms[result.DeliveryService].Mean *= 1.0001 },
		"histograms.lag.own.max":                        func(s *result.Summary) { s.Histograms[result.LagOwn].Max++ },
		"verdict.status":                                func(s *result.Summary) { s.Verdict.Status = result.Invalid },
		"verdict.reasons.censored":                      func(s *result.Summary) { s.Verdict.Reasons = nil },
		"verdict.reasons.own-lag.delivery.response.99": func(s *result.Summary) {
			s.Verdict.Reasons = append(s.Verdict.Reasons, result.Reason{Code: "own-lag", Metric: result.DeliveryResponse, Percentile: "99"})
		},
	}
	for name, change := range changes {
		t.Run(name, func(t *testing.T) {
			run := saved(t, newTestbed(mixed()))
			change(run.Summary)
			found := problemsOf(run)
			for _, p := range found {
				if p.Where == name {
					if !strings.HasPrefix(p.String(), name+": ") {
						t.Errorf("reads %q", p)
					}
					return
				}
			}
			t.Errorf("not found among %v", found)
		})
	}
}

func TestVerifyChecksTheIntervals(t *testing.T) {
	run := saved(t, newTestbed(healthyMessages()))
	run.Metrics[result.LagOwn].Max *= 3
	if p := problemsOf(run); !mentions(p, "metrics.lag.own", "highest bucket") {
		t.Errorf("a maximum beyond its histogram: %v", p)
	}
	b := newTestbed(healthyMessages())
	b.intervals[1].v.Counters.Sent++
	if p := problemsOf(saved(t, b)); !mentions(p, "counters", "do not add up") {
		t.Errorf("broken accounts: %v", p)
	}
}

// Impossible records are found even if no published figure is computed from them.
func TestVerifyFindsContradictions(t *testing.T) {
	for name, tt := range map[string]struct {
		where, text string
		change      func(*result.Run)
	}{
		"a gap":                {"intervals.1", "what was before it ended at", func(r *result.Run) { r.Series[1].Start++ }},
		"a late beginning":     {"intervals.0", "ended at 0", func(r *result.Run) { r.Series[0].Start = 5 }},
		"a pause backwards":    {"pauses.0", "before it begins", func(r *result.Run) { r.Pauses = []result.Pause{{Start: 5, End: 4}} }},
		"a latency":            {"tail.0", "not its latency of 9", func(r *result.Run) { r.Tail[0].Value = 9 }},
		"a service time":       {"tail.0", "from 3 to 10", func(r *result.Run) { r.Tail[0].Metric = result.DeliveryService }},
		"sent before due":      {"tail.0", "before it was due", func(r *result.Run) { r.Tail[0].Sent = 0 }},
		"own lag beyond lag":   {"tail.0", "by itself", func(r *result.Run) { r.Tail[0].Own = 3 }},
		"own lag below zero":   {"tail.0", "by itself", func(r *result.Run) { r.Tail[0].Own = -1 }},
		"more late than there": {"metrics.delivery.response.own.0", "late mostly by the generator", func(r *result.Run) { r.Metrics[result.DeliveryResponse].Own[0].Majority = 1 << 60 }},
		"none":                 {"", "", func(*result.Run) {}},
		"sent after done":      {"tail.0", "after it was done", func(r *result.Run) { r.Tail[0].Sent = 12 }},
		"by other clocks":      {"", "", func(r *result.Run) { r.Tail[0].Sent, r.Header.Clock.Shifted = 12, true }},
		"by clocks so apart":   {"", "", func(r *result.Run) { r.Tail[0].Sent, r.Header.Fleet = 12, apart(2) }},
		"by closer clocks":     {"tail.0", "after it was done", func(r *result.Run) { r.Tail[0].Sent, r.Header.Fleet = 12, apart(1) }},
		"never resolved":       {"", "", func(r *result.Run) { r.Tail[0].Sent, r.Tail[0].Own = -1, 0 }},
	} {
		t.Run(name, func(t *testing.T) {
			run := saved(t, newTestbed(healthyMessages()))
			run.Tail = []result.Exemplar{{Metric: result.DeliveryResponse, Value: 8, Intended: 2, Sent: 3, Done: 10, Own: 1}}
			tt.change(run)
			p := problemsOf(run)
			if tt.where == "" {
				p = contradictions(run, true)
			}
			if tt.where == "" && len(p) > 0 || tt.where != "" && !mentions(p, tt.where, tt.text) {
				t.Errorf("%v, want %s %q", p, tt.where, tt.text)
			}
		})
	}
}

// apart is a fleet whose sender has a clock that is proved to be wrong by this at most, ns.
func apart(proved int64) *result.Fleet {
	return &result.Fleet{Agents: []result.Agent{{Name: "m1", Clock: &result.AgentClock{Proved: proved}}}}
}

// Messages sent within an interval were due by then, even if none waits to be sent. Versions
// that read the schedule first may have counted slightly more.
func TestVerifyFindsMoreSentThanDue(t *testing.T) {
	for name, tt := range map[string]struct {
		level result.Level
		same  bool
		want  string
	}{
		"as many":               {result.Level{Due: 3, Sent: 3}, true, ""},
		"too few":               {result.Level{Due: 2, Sent: 3}, true, "1 message more sent than were due by then"},
		"of an earlier version": {result.Level{Due: 2, Sent: 3}, false, ""},
		"one waits":             {result.Level{Due: 4, Sent: 3}, true, "it is 0, by the counters 1"},
	} {
		p := &result.Point{}
		p.Levels, p.Counters = []result.Level{tt.level}, result.Counters{Scheduled: 5, Sent: 5}
		table := &timetable{run: &result.Run{}, same: tt.same}
		table.levels("intervals.1", result.Counters{Scheduled: 7, Sent: 6, Rejected: 1}, p)
		if len(table.found) > 0 != (tt.want != "") || tt.want != "" && !strings.Contains(table.found[0].Text, tt.want) {
			t.Errorf("%s: %v, want %q", name, table.found, tt.want)
		}
	}
}

// problemsOf verifies a run by the version that wrote it.
func problemsOf(run *result.Run) []Problem { return Verify(run, run.Header.Tool) }

func mentions(problems []Problem, where, text string) bool {
	for _, p := range problems {
		if p.Where == where && strings.Contains(p.Text, text) {
			return true
		}
	}
	return false
}

func TestARunCutShort(t *testing.T) {
	b := newTestbed(healthyMessages())
	b.intervals = b.intervals[:7]
	run := b.run(t)
	run.Damaged = "line 9 is cut off after 100 bytes"
	p := problemsOf(run)
	if !mentions(p, "file", "cut short after 7 s of 10 s") || !mentions(p, "file", "line 9") {
		t.Errorf("problems: %v", p)
	}
	s := Summarise(run, InputsOf(run))
	r := find(s.Verdict, "cut-short")
	if s.Verdict.Status != result.Suspect || r == nil || !strings.Contains(r.Text, "after 7 s of 10 s") || !strings.Contains(r.Text, "line 9") {
		t.Errorf("%+v", s.Verdict)
	}
	if s.End != 7e9 || s.Histograms[result.DeliveryResponse].Figures["99.9"].Value == 0 || s.Rate.Sent < 0.99*perSecond {
		t.Errorf("%+v", s)
	}
}

// A summary is JSON in the file: nothing that Summarise makes may be beyond it.
func TestSummariesAreJSON(t *testing.T) {
	for _, run := range []*result.Run{
		{Metrics: map[result.Metric]*result.Merged{}},
		newTestbed(mixed()).run(t),
	} {
		var b bytes.Buffer
		if err := json.NewEncoder(&b).Encode(Summarise(run, Inputs{})); err != nil {
			t.Error(err)
		}
	}
}

// writeRaw writes the rows of messages that go to two consumers each; change
// may alter a row, or drop it by returning false.
func writeRaw(t *testing.T, b *testbed, ms []msg, room int64, change func(int, *result.RawRow) bool) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "raw")
	w, err := rawfile.Create(path, result.RawHeader{Run: b.header.ID}, room)
	if err != nil {
		t.Fatal(err)
	}
	s, n := w.Shard(), 0
	put := func(r result.RawRow) {
		if n++; change == nil || change(n, &r) {
			s.Put(r)
		}
	}
	for i, m := range ms {
		sent := m.intended + m.own + m.blocked
		row := result.RawRow{Kind: result.RawSent, Stream: 3, Seq: int64(i), Intended: m.intended, Sent: sent, Instant: m.own}
		put(row)
		if m.missing {
			continue
		}
		row.Kind, row.Party, row.Instant = result.RawReceived, 1, sent+m.service
		put(row)
		row.Party, row.Instant = 2, sent+m.service+int64(i%7)*1000
		put(row)
	}
	s.Close()
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

// fanned is a testbed whose messages go to two consumers, as writeRaw has them.
func fanned(ms []msg) *testbed {
	b := newTestbed(ms)
	for i, m := range ms {
		if m.missing {
			continue
		}
		late := m.response() + int64(i%7)*1000
		at := b.at(m.intended + late)
		at.v.Counters.Expected++
		at.v.Counters.Received++
		at.share(result.DeliveryResponse).response(late, m.own, m.intended)
		at.share(result.DeliveryService).add(late - m.own - m.blocked)
		at.share(result.DeliveryLast).response(late, m.own, m.intended)
	}
	return b
}

func TestVerifyRawAgrees(t *testing.T) {
	ms := mixed()
	b := fanned(ms)
	run := saved(t, b)
	if p := problemsOf(run); len(p) != 0 {
		t.Fatalf("intervals: %v", p)
	}
	p, err := VerifyRaw(run, writeRaw(t, b, ms, 100_000, func(n int, r *result.RawRow) bool {
		if n == 1 { // a message of the warm-up is none of the run's
			r.Intended -= 1e9
		}
		return true
	}))
	if err != nil {
		t.Fatal(err)
	}
	// The first row, a send, was moved out of the window: its lags are gone.
	if len(p) != 4 || !mentions(p, "raw.lag.own", "19999 values") || !mentions(p, "raw.lag.blocked", "1 bucket ") {
		t.Errorf("without one send: %v", p)
	}
	if p, err := VerifyRaw(run, writeRaw(t, b, ms, 100_000, nil)); err != nil || len(p) != 0 {
		t.Errorf("as written: %v, %v", p, err)
	}
}

func TestVerifyRawFindsOneMovedInstant(t *testing.T) {
	ms := mixed()
	b := fanned(ms)
	run := saved(t, b)
	p, err := VerifyRaw(run, writeRaw(t, b, ms, 100_000, func(_ int, r *result.RawRow) bool {
		if r.Kind == result.RawReceived && r.Seq == 1700 && r.Party == 1 {
			r.Instant += 1e9
		}
		return true
	}))
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range []string{"delivery.response", "delivery.service", "delivery.last"} {
		if !mentions(p, "raw."+m, "2 buckets with other counts") {
			t.Errorf("%s agrees: %v", m, p)
		}
	}
	if mentions(p, "raw.lag.own", "") {
		t.Errorf("the lag differs: %v", p)
	}
}

func TestVerifyRawRefusesWhatCannotProve(t *testing.T) {
	ms := mixed()
	b := fanned(ms)
	run := saved(t, b)
	if p, err := VerifyRaw(run, writeRaw(t, b, ms, 1, nil)); err != nil || len(p) != 1 || !mentions(p, "raw", "found no room") {
		t.Errorf("a file with drops: %v, %v", p, err)
	}
	other := fanned(ms)
	other.header.ID = "fedcba9876543210"
	if p, err := VerifyRaw(run, writeRaw(t, other, ms, 100_000, nil)); err != nil || len(p) != 1 || !mentions(p, "raw", "belongs to run fedcba9876543210") {
		t.Errorf("another run's file: %v, %v", p, err)
	}
	path := writeRaw(t, b, ms, 100_000, nil)
	run.Summary = nil
	if p, err := VerifyRaw(run, path); err != nil || len(p) != 1 || !mentions(p, "raw", "cut short") {
		t.Errorf("a run cut short: %v, %v", p, err)
	}
	if _, err := VerifyRaw(run, filepath.Join(t.TempDir(), "none")); err == nil {
		t.Error("no file, no error")
	}
}

// Versions use different words for why an interval is unknown; only that it is unknown counts.
func TestVerifyComparesReasonsByWhatTheyMean(t *testing.T) {
	run := saved(t, newTestbed(healthyMessages()))
	reworded := 0
	for _, d := range run.Summary.Histograms {
		for name, f := range d.All() {
			if f.BlocksNA != "" {
				d.Update(name, func(f *result.Figure) { f.BlocksNA = "in the words of an earlier version" })
				reworded++
			}
		}
	}
	for i := range run.Summary.Verdict.Reasons {
		run.Summary.Verdict.Reasons[i].Text = "in the words of an earlier version"
	}
	if p := Verify(run, result.Tool{Name: "another version"}); reworded == 0 || len(p) > 0 {
		t.Errorf("%d reworded: %v", reworded, p)
	}
	for _, d := range run.Summary.Histograms {
		for name := range d.All() {
			d.Update(name, func(f *result.Figure) { f.BlocksNA = "" })
		}
	}
	if p := Verify(run, result.Tool{Name: "another version"}); len(p) == 0 {
		t.Error("a reason that is not there is not missed")
	}
}

// stamped makes a run one of two agents with clocks of their own, of nine exchanges with which so many have the stamps of kernels.
func stamped(kernel ...int64) func(*testbed) {
	return func(b *testbed) {
		clocked(1, false)(b)
		for i, n := range kernel {
			b.header.Fleet.Agents[i].Clock = &result.AgentClock{Proved: 1, Raw: true, Exchanges: 9, Kernel: n}
		}
	}
}

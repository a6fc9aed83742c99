package cli

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"

	"sixnines/internal/engine"
	"sixnines/result"
)

// measuring is progress in the middle of a window.
func measuring() engine.Progress {
	return engine.Progress{Phase: result.PhaseMeasure, Elapsed: 3 * time.Second, Left: 7 * time.Second, Metric: result.DeliveryResponse,
		Count: 1000, Sent: 999.6, Asked: 1000, InFlight: 2, P50: 74212, P99: 336000, Max: 1204000,
		Counters: result.Counters{Sent: 3000, Expected: 3000, Received: 2998}}
}

// several is progress of several workloads: one as ever, one in the background with
// trouble, one that has not begun, and one that is over.
func several() engine.Progress {
	live := measuring()
	live.Workload = "events"
	return engine.Progress{Phase: result.PhaseMeasure, Elapsed: 3 * time.Second, Left: 7 * time.Second, Workloads: []engine.Progress{live,
		{Workload: "traffic", Background: true, Phase: result.PhaseMeasure, Sent: 500, Backlog: 12, Counters: result.Counters{Rejected: 3}},
		{Workload: "late", Begins: 4 * time.Second},
		{Workload: "short", Phase: result.PhaseDrain, InFlight: 1}}}
}

// TestLiveRowsOfSeveralWorkloads looks for a row of each, and for all that went
// wrong in one.
func TestLiveRowsOfSeveralWorkloads(t *testing.T) {
	now := time.Now()
	m := &model{ctrlC: []string{endsWindow, endsEarly}, started: now, at: now, columns: 120, height: heightFor(4), last: several()}
	rows := m.rows(now)
	if len(rows) != 6 || len(rows) != m.height-1 {
		t.Fatalf("%q", rows)
	}
	for i, want := range []string{"", "events   1,000/s of 1,000/s  p50 74.2 µs  p99 336 µs  max 1.20 ms  in flight 2",
		"traffic  500/s ", "late     begins in 4", "short    over ", "traffic: 3 rejected   Ctrl-C"} {
		if got := strings.TrimSpace(ansi.Strip(rows[i])); !strings.HasPrefix(got, want) {
			t.Errorf("row %d is %q, want %q", i, got, want)
		}
	}
	if got := ansi.Strip(rows[2]); !strings.Contains(got, "overdue 12") || !strings.HasSuffix(got, "background") {
		t.Errorf("%q", got)
	}
}

func TestPlainLine(t *testing.T) {
	lost := measuring()
	lost.Backlog, lost.Counters.Rejected, lost.Counters.TimedOut = 12, 1, 3400
	waiting := measuring()
	waiting.Until = "p99 known ±12%, asked ±5%"
	slow := measuring()
	slow.Sent, slow.Asked, slow.Count, slow.Counters.Scheduled = 0, 1.0/3, 0, 1
	later := slow
	later.Counters.Scheduled = 0
	scarce := measuring()
	scarce.Count = 167
	blocked := measuring()
	blocked.Sent, blocked.Count, blocked.Backlog = 0, 0, 700
	for _, c := range []struct {
		p    engine.Progress
		want string
	}{
		{measuring(), "measure   3 s of 10 s  sent 1,000/s of 1,000/s  in flight 2  p50 74.2 µs  p99 336 µs  max 1.20 ms  no loss seen"},
		{lost, "measure   3 s of 10 s  sent 1,000/s of 1,000/s  in flight 2  overdue 12  p50 74.2 µs  p99 336 µs  max 1.20 ms  1 rejected, 3,400 timed out"},
		{waiting, "measure   3 s of 10 s  sent 1,000/s of 1,000/s  in flight 2  p50 74.2 µs  p99 336 µs  max 1.20 ms  no loss seen  p99 known ±12%, asked ±5%"},
		{slow, "measure   3 s of 10 s  sent 0/s of 0.3333/s  in flight 2  no loss seen"},
		{later, "measure   3 s of 10 s  nothing is due yet  in flight 2  no loss seen"},
		{scarce, "measure   3 s of 10 s  sent 1,000/s of 1,000/s  in flight 2  p50 74.2 µs  max 1.20 ms  no loss seen"},
		{blocked, "measure   3 s of 10 s  sending is blocked  in flight 2  overdue 700  no loss seen"},
		{engine.Progress{Phase: phaseWarmup, Elapsed: time.Second, Left: time.Second, Sent: 20_000}, "warm-up   1 s of 2 s  sent 20,000/s"},
		{engine.Progress{Phase: phaseWarmup, Elapsed: time.Second, Left: 2 * time.Second, Settling: true, P50: 61_000 * time.Nanosecond},
			"warm-up   1 s of 3 s  single messages until their p50 is steady, now 61.0 µs"},
		{engine.Progress{Phase: result.PhaseDrain, InFlight: 7}, "drain     waiting for the last messages  in flight 7  no loss seen"},
		{several(), "measure   3 s of 10 s  events  sent 1,000/s of 1,000/s  in flight 2  p50 74.2 µs  p99 336 µs  max 1.20 ms  no loss seen\n" +
			"measure   3 s of 10 s  traffic (background)  sent 500/s  in flight 0  overdue 12  3 rejected\n" +
			"measure   3 s of 10 s  late  begins in 4 s\n" +
			"measure   3 s of 10 s  short  in flight 1  no loss seen"},
	} {
		if got := strings.Join(plainLines(c.p), "\n"); got != c.want {
			t.Errorf("got  %s\nwant %s", got, c.want)
		}
	}
}

func TestLinesAreSparse(t *testing.T) {
	var b bytes.Buffer
	l := &lines{to: &b, ascii: true}
	l.observe(engine.Progress{Phase: phaseConnect})
	for range 5 { // five intervals of the same second
		l.observe(measuring())
	}
	l.observe(engine.Progress{Phase: result.PhaseDrain})
	l.say("a note")
	l.close()
	l.close()
	l.say("too late")
	l.observe(measuring())
	got := strings.Split(strings.TrimSuffix(b.String(), "\n"), "\n")
	if len(got) != 3 || !strings.HasPrefix(got[0], "measure") || !strings.HasPrefix(got[1], "drain") || got[2] != "a note" {
		t.Errorf("got %q", got)
	}
	if strings.Contains(b.String(), "µ") {
		t.Error("not ASCII")
	}
}

// TestLiveRows checks that no state of a run gives a row that a terminal would
// break.
func TestLiveRows(t *testing.T) {
	now := time.Now()
	busy := measuring()
	busy.Backlog, busy.Counters = 123456, result.Counters{Rejected: 1, Nacked: 2, Dropped: 3, TimedOut: 4, Corrupted: 5, Duplicated: 6, Reordered: 7, Late: 8}
	for _, p := range []engine.Progress{{}, {Phase: phaseConnect}, {Phase: phaseWarmup, Elapsed: time.Second, Left: time.Second},
		measuring(), busy, {Phase: result.PhaseMeasure}, {Phase: result.PhaseDrain, InFlight: 3}, {Phase: result.PhaseMeasure, Elapsed: 200 * time.Hour, Left: time.Nanosecond}, several()} {
		for _, columns := range []int{1, 20, 40, 80, 300} {
			for _, ascii := range []bool{false, true} {
				m := &model{ctrlC: []string{endsWindow, endsEarly}, started: now, at: now, columns: columns, height: heightFor(len(p.Workloads)), ascii: ascii, last: p}
				for _, at := range []time.Time{now, now.Add(300 * time.Millisecond), now.Add(time.Hour)} {
					if n := len(m.rows(at)); n >= m.height {
						t.Errorf("%d rows leave none for the cursor", n)
					}
					for _, row := range m.rows(at) {
						if w := lipgloss.Width(row); w > columns {
							t.Errorf("%d columns in %d: %q", w, columns, row)
						}
						if ascii && strings.ContainsAny(row, "µ█░") {
							t.Errorf("not ASCII: %q", row)
						}
					}
				}
			}
		}
	}
}

// TestLiveLeavesNothing drives the live view without a terminal and demands
// that it neither asks the terminal anything nor hides the cursor for good.
func TestLiveLeavesNothing(t *testing.T) {
	for _, kind := range []string{"xterm-256color", "tmux-256color", "xterm-kitty", "alacritty", "vt100"} {
		var b bytes.Buffer
		a := &app{Env: Env{Stderr: &b, Environ: []string{"TERM=" + kind}, Terminal: everything}}
		l := newLive(&a.Env, 0, endsWindow)
		l.observe(measuring())
		l.say("a note")
		l.close()
		l.say("too late")
		out := b.String()
		for _, query := range []string{"\x1b[?2026$p", "\x1b[?2027$p", "\x1b[c", "\x1b[6n", "\x1b[?u", "\x1b[?1049h", "\x1bP+q"} {
			if strings.Contains(out, query) {
				t.Errorf("%s: the terminal was asked %q", kind, query)
			}
		}
		if hidden, shown := strings.LastIndex(out, "\x1b[?25l"), strings.LastIndex(out, "\x1b[?25h"); hidden > shown {
			t.Errorf("%s: the cursor stays hidden in %q", kind, out)
		}
		if strings.Contains(out, "too late") {
			t.Errorf("%s: shown after the end", kind)
		}
	}
}

// On a narrow terminal the bar and the remarks give way, not the figures.
func TestLiveRowsOfANarrowTerminal(t *testing.T) {
	now := time.Now()
	m := &model{ctrlC: []string{endsWindow, endsEarly}, started: now, at: now, columns: 60, height: heightFor(0), last: measuring()}
	rows := strings.Split(ansi.Strip(strings.Join(m.rows(now), "\n")), "\n")
	for i, want := range []string{"7.0 s left", "in flight 2", "max 1.20 ms   delivery.response", "no loss seen   Ctrl-C ends the window early"} {
		if !strings.HasSuffix(rows[i], want) {
			t.Errorf("row %d is %q, want it to end with %q", i, rows[i], want)
		}
	}
}

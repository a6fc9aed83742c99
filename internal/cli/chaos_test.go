package cli

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sixnines/drivers/all"
	"sixnines/drivers/redisstreams"
	"sixnines/result"
	"sixnines/scenario"
)

// A scenario with a drawn timeline is as one in which the same timeline was written: where it can lose
// messages, what the broker keeps is read back.
func TestDrawnActionsHaveTheirDefaults(t *testing.T) {
	e := redisstreams.Entry()
	for seed := uint64(1); seed <= 5; seed++ {
		s, err := scenario.Parse("x.yaml", []byte("target: {driver: redis-streams}\nphases: {duration: 60s}\n"))
		if err != nil {
			t.Fatal(err)
		}
		s.Normalise()
		if err := drawActions(s, e, seed); err != nil {
			t.Fatal(err)
		}
		text, err := s.Encode()
		if err != nil {
			t.Fatal(err)
		}
		written, err := scenario.Parse("y.yaml", text)
		if err != nil {
			t.Fatal(err)
		}
		if written.Normalise(); s.Phases != written.Phases || s.CanLose() && s.Phases.ReadBack == 0 {
			t.Errorf("seed %d: drawn %+v, written %+v", seed, s.Phases, written.Phases)
		}
	}
}

// A run shows that it lost nothing only where something was acknowledged and it is known what the broker keeps.
func TestLossesOfARun(t *testing.T) {
	acked := result.Counters{Acked: 10, Expected: 10}
	for _, tt := range []struct {
		name     string
		counters result.Counters
		back     *result.ReadBack
		lost     int64
		decided  bool
	}{
		{"all is kept", acked, &result.ReadBack{Outcome: result.ReadBackDone, Whole: true, InLog: 10}, 0, true},
		{"gone from the log", acked, &result.ReadBack{Outcome: result.ReadBackDone, Whole: true, NotInLog: 4}, 4, true},
		{"not read back", acked, nil, 0, true},
		{"not read back, without consumers", result.Counters{Acked: 10}, nil, 0, false},
		{"not read back, and some not delivered", result.Counters{Acked: 10, Expected: 10, Undelivered: 1}, nil, 0, false},
		{"removed by a limit", acked, &result.ReadBack{Outcome: result.ReadBackDone, Removed: 3}, 0, false},
		{"keeps nothing", result.Counters{Acked: 10, Expected: 10, LostAcked: 2}, &result.ReadBack{Outcome: result.ReadBackNothingKept}, 2, true},
		{"could not be read", result.Counters{Acked: 10, Expected: 10, Undelivered: 3}, &result.ReadBack{Outcome: result.ReadBackFailed, Why: "it is away", Unread: 3}, 0, false},
		{"could not be read, and lost", result.Counters{Acked: 10, Expected: 10, LostAcked: 1}, &result.ReadBack{Outcome: result.ReadBackPartly, LostAcked: 1, Unread: 3}, 1, true},
		{"nothing was acknowledged", result.Counters{Sent: 10}, nil, 0, false},
	} {
		lost, err := lostOf(&result.Run{Counters: tt.counters, ReadBack: tt.back})
		if lost != tt.lost || (err == nil) != tt.decided {
			t.Errorf("%s: %d, %v", tt.name, lost, err)
		}
	}
}

// A search that is stopped before a run lost something has found nothing, and decided nothing.
func TestShrinkStopped(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "x.yaml"), []byte("target: {driver: mem}\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	stderr := &signaller{cues: []string{"trial 1, 1 action: 0 acknowledged messages lost"}, signals: make(chan os.Signal, 1)}
	var out bytes.Buffer
	code := Main(t.Context(), Env{Args: []string{"chaos", "shrink", "x.yaml", "--tries", "100", "--option", "ack=broker", "--rate", "200/s", "--duration", "300ms", "--warmup", "500ms",
		"--set", "actions=[{at: 100ms, pause: consumers, for: 50ms}]", "--json"},
		Stdin: strings.NewReader(""), Stdout: &out, Stderr: stderr, Dir: dir, Drivers: all.Set(), Tool: BuiltTool(),
		Signals: func() (<-chan os.Signal, func()) { return stderr.signals, func() {} }})
	text := stderr.text.String()
	if code != exitThreshold || !strings.Contains(text, "it is not decided whether the whole timeline loses messages; the same command with --resume ") || strings.Contains(text, "even shorter") {
		t.Errorf("exit code %d:\n%s", code, text)
	}
	var o shrinkObject
	if err := json.Unmarshal(out.Bytes(), &o); err != nil || !o.Stopped || o.Shortest || o.Actions != nil || len(o.Trials) == 0 {
		t.Errorf("%v: %s", err, out.String())
	}
}

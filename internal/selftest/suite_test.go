package selftest

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"sixnines/internal/spell/spelltest"
)

// A trial that fails, panics or returns an error counts as failed, and the other trials are
// still made.
func TestSuiteGoesOn(t *testing.T) {
	trial := func(name string, run func(context.Context, *Bench) (*Outcome, error)) Trial {
		return Trial{Name: name, Run: run}
	}
	trials := []Trial{
		trial("good", func(context.Context, *Bench) (*Outcome, error) {
			return Conclude("", Exactly("a", 1, 1)), nil
		}),
		trial("wrong", func(context.Context, *Bench) (*Outcome, error) {
			return Conclude("", Exactly("a", 1, 1), Exactly("a", 1, 2)), nil
		}),
		trial("panics", func(context.Context, *Bench) (*Outcome, error) { panic("out of bounds") }),
		trial("error", func(context.Context, *Bench) (*Outcome, error) { return nil, errors.New("no socket") }),
		trial("nothing", func(context.Context, *Bench) (*Outcome, error) { return nil, nil }),
		trial("skipped", func(context.Context, *Bench) (*Outcome, error) { return Skip("not root; become root"), nil }),
		trial("told", func(context.Context, *Bench) (*Outcome, error) {
			return Conclude("", Figure{What: "b", Found: "3", Verdict: Information}), nil
		}),
	}
	r := Run(t.Context(), &Bench{Dir: t.TempDir()}, trials, Observer{})
	var got []Verdict
	for _, x := range r.Trials {
		got = append(got, x.Verdict)
	}
	want := []Verdict{Passed, Failed, Failed, Failed, Failed, NotAssessed, Information}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if !strings.Contains(r.Trials[2].Reason, "out of bounds") || !strings.Contains(r.Trials[3].Reason, "no socket") {
		t.Errorf("%q, %q", r.Trials[2].Reason, r.Trials[3].Reason)
	}
	if r.Count(Failed) != 4 || r.Stopped {
		t.Errorf("%+v", r)
	}
}

// A timed trial has more attempts, and each is reported; others have one.
func TestAttempts(t *testing.T) {
	for _, timed := range []bool{false, true} {
		made := 0
		trial := Trial{Name: "third", Timed: timed, Run: func(context.Context, *Bench) (*Outcome, error) {
			made++
			return Conclude("", Exactly("attempt", Attempts, made)), nil
		}}
		r := Run(t.Context(), &Bench{Dir: t.TempDir()}, []Trial{trial}, Observer{}).Trials[0]
		if want := map[bool]Verdict{false: Failed, true: Passed}[timed]; r.Verdict != want {
			t.Errorf("timed %v: %s, want %s", timed, r.Verdict, want)
		}
		if want := made - 1; len(r.Attempts) != want {
			t.Errorf("timed %v: %d attempts told of, want %d: %q", timed, len(r.Attempts), want, r.Attempts)
		}
	}
}

func TestStopEndsTheSuite(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	stopping := Trial{Name: "stopped", Timed: true, Run: func(ctx context.Context, _ *Bench) (*Outcome, error) {
		stop()
		return nil, context.Cause(ctx)
	}}
	never := Trial{Name: "never", Run: func(context.Context, *Bench) (*Outcome, error) {
		t.Error("made after the stop")
		return nil, nil
	}}
	r := Run(ctx, &Bench{Dir: t.TempDir()}, []Trial{stopping, never}, Observer{})
	if !r.Stopped || len(r.Trials) != 2 || r.Count(NotAssessed) != 2 {
		t.Errorf("%+v", r)
	}
}

// Only disturbances by other programs, above the limits, excuse a failure.
func TestDisturbances(t *testing.T) {
	const second = time.Second
	for _, tt := range []struct {
		name string
		seen seen
		want int
	}{
		{"quiet", seen{elapsed: second, cores: 2, busy: 0.05, own: 50 * time.Millisecond}, 0},
		{"busy by ourselves", seen{elapsed: second, cores: 2, busy: 0.9, own: 1700 * time.Millisecond}, 0},
		{"busy by others", seen{elapsed: second, cores: 2, busy: 0.9, own: 200 * time.Millisecond}, 1},
		{"a trifle of steal", seen{elapsed: second, cores: 2, steal: 0.004}, 0},
		{"steal", seen{elapsed: second, cores: 2, steal: 0.006}, 1},
		{"everything", seen{elapsed: second, cores: 2, busy: 1, steal: 0.1, throttled: 1, swapped: 1, suspended: 1}, 5},
		{"nothing known", seen{}, 0},
	} {
		if got := tt.seen.disturbances(); len(got) != tt.want {
			t.Errorf("%s: %q, want %d", tt.name, got, tt.want)
		}
	}
}

// An excuse needs a disturbance in every attempt, and keeps the figures.
func TestExcuse(t *testing.T) {
	o := Conclude("", Exactly("p99", "3 ms", "4 ms"))
	o.Attempts = []string{"attempt 1 failed: p99"}
	excuse(o, []string{"steal"})
	if o.Verdict != NotAssessed || o.Figures[0].Verdict != Failed || !strings.Contains(o.Reason, "steal") || !strings.Contains(o.Reason, "4 ms") || !strings.Contains(o.Reason, "2 attempts") {
		t.Errorf("%+v", o)
	}
}

func TestQuestionsAreInPlainWords(t *testing.T) {
	for _, trial := range All() {
		for _, found := range spelltest.Words(trial.Question) {
			t.Errorf("%s: %s", trial.Name, found)
		}
	}
}

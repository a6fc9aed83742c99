package selftest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"time"

	"sixnines/internal/spell"
	"sixnines/result"
)

// Attempts is the default number of attempts of a timed trial that fails.
const Attempts = 3

// Report is the result of all trials.
type Report struct {
	Tool    result.Tool   `json:"tool"`
	Started time.Time     `json:"started"`
	Took    time.Duration `json:"took"`
	Short   bool          `json:"short"`
	Machine MachineKey    `json:"machine"`
	Trials  []Result      `json:"trials"`
	// Stopped says that the context ended before all trials were made.
	Stopped bool `json:"stopped,omitempty"`
}

// Result is the result of one trial.
type Result struct {
	Number   int           `json:"number"`
	Name     string        `json:"name"`
	Question string        `json:"question"`
	Took     time.Duration `json:"took"`
	*Outcome
}

// Count returns how many trials have the verdict v.
func (r *Report) Count(v Verdict) int {
	n := 0
	for _, t := range r.Trials {
		if t.Verdict == v {
			n++
		}
	}
	return n
}

// Observer receives a suite's progress, on the goroutine that called Run. Members may be
// nil.
type Observer struct {
	Begins func(t Trial)
	Says   func(t Trial, text string)
	Ends   func(r Result)
}

// Run makes the trials in order, each in a directory of its own below b.Dir, and
// continues after one that fails or panics. If ctx ends, the current trial and all
// further ones are not assessed.
func Run(ctx context.Context, b *Bench, trials []Trial, o Observer) *Report {
	r := &Report{Tool: b.Tool, Started: time.Now(), Short: b.Short, Machine: ThisMachine()}
	for _, t := range trials {
		if o.Begins != nil && ctx.Err() == nil {
			o.Begins(t)
		}
		began := time.Now()
		var out *Outcome
		if ctx.Err() == nil {
			out = try(ctx, b, t, o)
		}
		if ctx.Err() != nil {
			r.Stopped = true
			out = Skip("stopped before its end; run sixnines selftest --only " + t.Name)
		}
		result := Result{Number: t.Number, Name: t.Name, Question: t.Question, Took: time.Since(began), Outcome: out}
		r.Trials = append(r.Trials, result)
		if o.Ends != nil {
			o.Ends(result)
		}
	}
	r.Took = time.Since(r.Started)
	return r
}

// try makes one trial, with up to as many attempts as it may have.
func try(ctx context.Context, b *Bench, t Trial, o Observer) *Outcome {
	attempts := 1
	if t.Timed {
		attempts = Attempts
		if b.Attempts > 0 {
			attempts = b.Attempts
		}
	}
	var before []string
	disturbed := true // in all attempts so far
	for n := 1; ; n++ {
		watch := startWatch()
		out := attempt(ctx, b, t, n, o)
		found := watch.end(0)
		out.Attempts = before
		if out.Verdict != Failed || ctx.Err() != nil {
			return out
		}
		disturbed = disturbed && len(found) > 0
		if n == attempts {
			if t.Timed && disturbed {
				excuse(out, found)
			}
			return out
		}
		text := fmt.Sprintf("attempt %d failed: %s", n, failures(out))
		if len(found) > 0 {
			text += "; meanwhile " + strings.Join(found, ", ")
		}
		before = append(before, text)
		if o.Says != nil {
			o.Says(t, text+"; once more")
		}
	}
}

// excuse marks a timed trial that failed in attempts which were all disturbed as not
// assessed. Its figures stay unchanged.
func excuse(o *Outcome, found []string) {
	o.Verdict = NotAssessed
	o.Reason = fmt.Sprintf("it failed in %d attempts (%s), but the machine was disturbed in each: in the last, %s; run it again while nothing else runs",
		len(o.Attempts)+1, failures(o), strings.Join(found, ", "))
}

// failures describes the figures of an outcome that failed, in a line.
func failures(o *Outcome) string {
	var what []string
	for _, f := range o.Figures {
		if f.Verdict == Failed {
			what = append(what, fmt.Sprintf("%s is %s, expected %s", f.What, f.Found, f.Expected))
		}
	}
	switch {
	case len(what) == 0 && o.Reason != "":
		return o.Reason
	case len(what) == 0:
		return o.Text
	case len(what) > 2:
		return fmt.Sprintf("%s, and %d more", what[0], len(what)-1)
	}
	return strings.Join(what, ", ")
}

// patience is the factor by which a trial may take longer than planned, plus a minute.
const patience = 5

// attempt makes one attempt of a trial. It always returns an outcome.
func attempt(ctx context.Context, b *Bench, t Trial, n int, o Observer) (out *Outcome) {
	takes := t.Takes
	if b.Short {
		takes = t.TakesShort
	}
	limit := takes*patience + time.Minute
	ctx, cancel := context.WithTimeoutCause(ctx, limit, fmt.Errorf("it took longer than %s", spell.Period(limit)))
	defer cancel()
	fault := func(err error) *Outcome {
		return &Outcome{Verdict: Failed, Text: "the trial could not be made", Reason: strings.ReplaceAll(err.Error(), "\n", "; ")}
	}
	bench := *b
	bench.Dir = filepath.Join(b.Dir, fmt.Sprintf("%s-%d", t.Name, n))
	if err := os.Mkdir(bench.Dir, 0o755); err != nil {
		return fault(err)
	}
	bench.Progress = func(text string) {
		if o.Says != nil {
			o.Says(t, text)
		}
	}
	defer func() {
		if p := recover(); p != nil {
			out = fault(fmt.Errorf("panic: %v\n%s", p, debug.Stack()))
		}
	}()
	out, err := t.Run(ctx, &bench)
	switch {
	case err != nil:
		return fault(err)
	case out == nil:
		return fault(errors.New("it had no outcome"))
	}
	return out
}

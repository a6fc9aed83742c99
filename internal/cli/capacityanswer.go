package cli

import (
	"fmt"
	"path/filepath"
	"time"

	"sixnines/internal/report"
	"sixnines/internal/sweep"
	"sixnines/result"
)

// capacityObject is the answer as JSON. Rates are messages a second; null: there is
// none.
type capacityObject struct {
	Directory string `json:"directory"`
	// Of is the workload whose rate this is about, of several; objectives of others
	// begin with their names.
	Of         string   `json:"of,omitempty"`
	Objectives []string `json:"objectives"`
	// Holds and Fails enclose the highest rate that holds: [Holds, Fails), with
	// Confidence. Without Fails it is at least Holds.
	Holds          *float64 `json:"holds"`
	Fails          *float64 `json:"fails"`
	Confidence     float64  `json:"confidence"`
	HoldsConfirmed bool     `json:"holds_confirmed"` // by fresh trials
	FailsConfirmed bool     `json:"fails_confirmed"`
	// Limit is what the rate is limited by: latency, refusals, backlog, loss, count,
	// generator or rate limit.
	Limit string        `json:"limit,omitempty"`
	Why   string        `json:"why,omitempty"`
	Below bracketObject `json:"from_below"`
	Above bracketObject `json:"from_above"`
	// Hysteresis says that a test showed the system to carry less after an overload. Tested
	// is that test; null: nothing gave reason for one.
	Hysteresis bool            `json:"hysteresis"`
	Tested     *hysteresisTest `json:"hysteresis_test"`
	Stopped    string          `json:"stopped,omitempty"` // why the search ended early
	For        *sizingObject   `json:"for,omitempty"`
	Trials     []capacityTrial `json:"trials"`
	Format     string          `json:"format"`
	Version    int             `json:"version"`
}

// capacityFormat and capacityVersion identify the JSON form of an answer.
const (
	capacityFormat  = "sixnines-capacity"
	capacityVersion = 1
)

type bracketObject struct {
	Holds *float64 `json:"holds"`
	Fails *float64 `json:"fails"`
}

// hysteresisTest counts trials that met the objectives at one rate.
type hysteresisTest struct {
	Rate     float64 `json:"rate"`
	Fresh    int     `json:"fresh_met"` // on a fresh system
	FreshOf  int     `json:"fresh"`
	Loaded   int     `json:"after_overload_met"`
	LoadedOf int     `json:"after_overload"`
	P        float64 `json:"p"` // of Fisher's exact test
}

type sizingObject struct {
	Rate       float64 `json:"rate"`
	Headroom   float64 `json:"headroom"` // a share
	Machines   *int    `json:"machines"` // null: not known, since no rate was shown to hold
	Assumption string  `json:"assumption"`
	// AtMost says that fewer machines may be enough: the answer has no upper end.
	AtMost    bool `json:"at_most"`
	Confirmed bool `json:"confirmed"` // fresh trials confirmed the rate that holds
}

type capacityTrial struct {
	Stage   string  `json:"stage"`
	Rate    float64 `json:"rate"`
	Seconds float64 `json:"seconds"` // of the window
	Outcome string  `json:"outcome"` // met, missed or undecided
	Limit   string  `json:"limit,omitempty"`
	Found   string  `json:"found"`
	File    string  `json:"file"`
	// Attempts are the earlier ones at the trial, which --resume made again. A confirming trial
	// with any is undecided.
	Attempts []result.Attempt `json:"attempts,omitempty"`
}

// assumption is what --for rests on.
const assumption = "they share nothing: the load divides evenly, and each carries as much as the measured one"

// print prints the answer and decides on the exit code.
func (c *capacityRun) print(answer sweep.Answer, o capacityOptions) error {
	object := c.object(answer, o)
	var err error
	if o.json {
		err = c.writeJSON(object)
	} else {
		err = report.CapacityTerminal(c.Stdout, c.report(answer, object), c.reportOptions(c.Stdout))
	}
	if err != nil {
		return failed("the results are in "+c.dir, fmt.Errorf("print the answer: %w", err))
	}
	return o.passing.end(answered(answer))
}

// answered counts what the search should show: that the lower end of its answer holds, and
// that the upper end, if it has one, fails.
func answered(a sweep.Answer) (t tally) {
	switch {
	case a.NoneHolds():
		t.missed++
	case !a.HoldsConfirmed || !a.AtLeast() && !a.FailsConfirmed:
		t.undecided++
	}
	return t
}

func known(rate float64) *float64 {
	if rate == 0 {
		return nil
	}
	return &rate
}

func (c *capacityRun) object(a sweep.Answer, o capacityOptions) capacityObject {
	x := capacityObject{Format: capacityFormat, Version: capacityVersion, Directory: c.dir, Of: c.load.Name, Holds: known(a.Holds), Fails: known(a.Fails), Confidence: a.Confidence,
		HoldsConfirmed: a.HoldsConfirmed, FailsConfirmed: a.FailsConfirmed, Limit: string(a.Limit), Why: a.Why,
		Below: bracketObject{known(a.Below.Holds), known(a.Below.Fails)}, Above: bracketObject{known(a.Above.Holds), known(a.Above.Fails)},
		Hysteresis: a.Hysteresis.Shown, Stopped: a.Stopped}
	if h := a.Hysteresis; h.Rate > 0 {
		x.Tested = &hysteresisTest{Rate: h.Rate, Fresh: h.Fresh.Met, FreshOf: h.Fresh.Of, Loaded: h.After.Met, LoadedOf: h.After.Of, P: h.P}
	}
	for _, w := range c.scenario.Parts() {
		for _, objective := range w.Objectives {
			x.Objectives = append(x.Objectives, ofWorkload(w.Name)+objective.String())
		}
	}
	for i, t := range a.Trials {
		x.Trials = append(x.Trials, capacityTrial{Stage: string(t.Stage), Rate: t.Rate.Float(), Outcome: string(t.Outcome), Limit: string(t.Limit),
			Seconds: c.window(t.Trial).Seconds(), Found: t.Found, File: filepath.Join(c.dir, fileOf(i+1, t.Trial)), Attempts: t.Attempts})
	}
	if !o.wanted.IsZero() {
		x.For = &sizingObject{Rate: o.wanted.Float(), Headroom: o.headroom.share, Assumption: assumption, AtMost: a.AtLeast() && a.HoldsConfirmed, Confirmed: a.HoldsConfirmed}
		if a.Holds > 0 {
			n := machines(o.wanted.Float(), a.Holds, o.headroom.share)
			x.For.Machines = &n
		}
	}
	return x
}

// report is the answer for people.
func (c *capacityRun) report(a sweep.Answer, x capacityObject) *report.Capacity {
	out := &report.Capacity{Answer: a, Objectives: x.Objectives, Directory: c.dir,
		Load: fmt.Sprintf("%s%s, %s, %s", c.entry.Name, before(", rate of ", c.load.Name), c.load.Workload.Pattern, c.load.Workload.Size)}
	for _, t := range a.Trials {
		out.Windows = append(out.Windows, c.window(t.Trial).Round(100*time.Millisecond))
	}
	if f := x.For; f != nil {
		out.Sizing = &report.Sizing{Rate: f.Rate, Headroom: f.Headroom, Assumption: f.Assumption}
		if f.Machines != nil {
			out.Sizing.Machines = *f.Machines
		}
	}
	return out
}

// before puts words before a name if there is one.
func before(words, name string) string {
	if name == "" {
		return ""
	}
	return words + name
}

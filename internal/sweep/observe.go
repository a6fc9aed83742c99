package sweep

import (
	"fmt"
	"slices"
	"strings"

	"sixnines/internal/judge"
	"sixnines/internal/spell"
	"sixnines/result"
	"sixnines/scenario"
)

// Observation is what one trial shows about the objectives at its rate.
type Observation struct {
	// Outcome is Met if the trial shows that every objective holds, Missed if it shows
	// that one does not, and Undecided otherwise.
	Outcome judge.Outcome
	// Limit is what limited the rate, empty if nothing did.
	Limit Limit
	Found string // in words, one line
	// Attempts are the earlier ones at the trial, see [result.Trial].
	Attempts []result.Attempt
}

// chosen is what a trial on which the answer depends counts for: nothing, if it was made again. Whoever
// chose to may have seen what the first attempt showed, and the evidence holds only if each
// attempt is in it.
func (o Observation) chosen() Observation {
	if len(o.Attempts) > 0 && o.Outcome != judge.Undecided {
		o.Found = "it " + judge.Again(o.Attempts) + "; it would be " + string(o.Outcome) + ": " + o.Found
		o.Outcome, o.Limit = judge.Undecided, ""
	}
	return o
}

// Limit is what limits a rate.
type Limit string

// The limits.
const (
	Latency   Limit = "latency"    // an objective about a latency is missed
	Refusals  Limit = "refusals"   // messages are refused
	Backlog   Limit = "backlog"    // the system accepts less than is due
	Loss      Limit = "loss"       // acknowledged messages are lost
	Count     Limit = "count"      // an objective about a counter or a share is missed
	Generator Limit = "generator"  // the generator or its machine is at its limit: nothing is shown about the system
	MostRate  Limit = "rate limit" // no higher rate may be tried
)

// leastSentShare is the least share of the messages due that must be sent in the window for the
// rate to count as tried.
const leastSentShare = 0.995

// Observe says what a run shows about the objectives. The system must also accept the
// messages due and keep those that it acknowledged. So a run is Missed if it is UNSTABLE,
// if it lost acknowledged messages, or if less than 99.5 % of the messages due could be
// sent because sends were blocked or refused. It is Undecided if consumers did not get all that was
// acknowledged and nothing tells whether that is lost. If the generator is the limit, nothing is
// shown, and Limit says so.
//
// It returns an error if the run cannot show an objective at any rate.
func Observe(run *result.Run, objectives []scenario.Objective) (Observation, error) {
	s := run.Summary
	if s == nil {
		return Observation{judge.Undecided, "", "the run was cut short", nil}, nil
	}
	byGenerator := slices.IndexFunc(s.Verdict.Reasons, judge.ByGenerator)
	switch s.Verdict.Status {
	case result.Invalid:
		return Observation{judge.Undecided, Generator, "INVALID: " + reasonsOf(s.Verdict, result.Invalid), nil}, nil
	case result.Unstable:
		o := Observation{judge.Missed, Backlog, "UNSTABLE: " + reasonsOf(s.Verdict, result.Unstable), nil}
		if judge.Overloads(s.Verdict) {
			o.Outcome, o.Limit = judge.Undecided, Generator
		}
		return o, nil
	}
	if share, ok := s.Rate.SentShare(); ok && share < leastSentShare {
		found := spell.ExactShare(share) + " of the messages due was sent"
		if c := run.Counters; c.Rejected > 0 && share+float64(c.Rejected)/float64(max(c.Scheduled, 1)) >= leastSentShare {
			return Observation{judge.Missed, Refusals, found + ": the client refused " + spell.Plural(c.Rejected, "message"), nil}, nil
		}
		if byGenerator >= 0 {
			return Observation{judge.Undecided, Generator, found + ": " + s.Verdict.Reasons[byGenerator].Text, nil}, nil
		}
		return Observation{judge.Missed, Backlog, found + ", because sends were blocked", nil}, nil
	}
	least, most := run.LostAcked()
	if least > 0 {
		return Observation{judge.Missed, Loss, spell.Plural(least, "acknowledged message") + " lost", nil}, nil
	}
	var undecided *Observation
	var met []string
	for _, o := range objectives {
		d := judge.Decide(run, o)
		switch d.Outcome {
		case judge.Meaningless:
			return Observation{}, fmt.Errorf("the objective %s cannot be decided for this load: %s", o, d.Text)
		case judge.Missed:
			return Observation{judge.Missed, limitOf(d), o.String() + " is missed: " + d.Text, nil}, nil
		case judge.Undecided:
			if undecided == nil {
				undecided = &Observation{judge.Undecided, "", o.String() + " is undecided: " + d.Text, nil}
				// A figure that is suspect because of the generator stays so in a longer
				// run.
				if d.Suspect && byGenerator >= 0 {
					undecided.Limit = Generator
				}
			}
		default:
			met = append(met, d.Text)
		}
	}
	switch {
	case undecided != nil:
		return *undecided, nil
	case most > 0 && run.Counters.Expected > 0: // without consumers only reading back would tell, of each message
		return Observation{judge.Undecided, "", judge.MayBeLost(run), nil}, nil
	}
	return Observation{judge.Met, "", strings.Join(met, "; "), nil}, nil
}

// Together combines what the workloads of a trial show, each about its own objectives: met
// if all are met. If the generator limits one workload, nothing is shown about any; else
// Missed comes before Undecided.
func Together(all []Observation) Observation {
	weight := func(o Observation) int {
		switch {
		case o.Limit == Generator:
			return 3
		case o.Outcome == judge.Missed:
			return 2
		case o.Outcome == judge.Undecided:
			return 1
		}
		return 0
	}
	var worst Observation
	var found []string
	for i, o := range all {
		found = append(found, o.Found)
		if i == 0 || weight(o) > weight(worst) {
			worst = o
		}
	}
	if worst.Outcome == judge.Met {
		worst.Found = strings.Join(found, "; ")
	}
	return worst
}

// reasonsOf joins the texts of the reasons for a status.
func reasonsOf(v result.Verdict, status result.Status) string {
	var texts []string
	for _, r := range v.Reasons {
		if r.Status == status {
			texts = append(texts, r.Text)
		}
	}
	return strings.Join(texts, "; ")
}

// limitOf returns the limit that a missed objective stands for.
func limitOf(d judge.Decision) Limit {
	switch o := d.Objective; {
	case d.Refused, o.Subject == "rejected", o.Subject == "nacked":
		return Refusals
	case o.IsMetric():
		return Latency
	case o.IsRate():
		return Backlog
	case o.Subject == "lost", o.Subject == "missing", o.Subject == "lost_acked":
		return Loss
	}
	return Count
}

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

// Observation is what one trial shows of the objectives at its rate.
type Observation struct {
	// Outcome is Met if the trial shows each objective to hold, Missed if it shows of
	// one that it does not, and Undecided otherwise.
	Outcome judge.Outcome
	// Limit is what stood in the way, empty if nothing did.
	Limit Limit
	Found string // for people, one line
}

// Limit is what a rate is too high for.
type Limit string

// The limits.
const (
	Latency   Limit = "latency"    // an objective about a latency is missed
	Refusals  Limit = "refusals"   // messages are refused
	Backlog   Limit = "backlog"    // the system takes less than is due
	Loss      Limit = "loss"       // acknowledged messages are lost
	Count     Limit = "count"      // an objective about a counter or a share is missed
	Generator Limit = "generator"  // the generator, or its machine, can do no more: nothing is shown of the system
	MostRate  Limit = "rate limit" // no higher rate may be tried
)

// leastSentShare is the share of what was due that has to be sent in the window for a
// rate to have been tried at all.
const leastSentShare = 0.995

// Observe says what a run shows of the objectives. Beside these the system has to
// take what is due: a run that is UNSTABLE, or in which less than 99.5 % of what was
// due could be sent because sends were blocked or refused, misses; and it has to keep what it
// acknowledged. Where the generator is the limit, nothing is shown, and Limit says
// so.
//
// An error says that the run cannot show an objective at any rate.
func Observe(run *result.Run, objectives []scenario.Objective) (Observation, error) {
	s := run.Summary
	if s == nil {
		return Observation{judge.Undecided, "", "the run was cut short"}, nil
	}
	byGenerator := slices.IndexFunc(s.Verdict.Reasons, judge.ByGenerator)
	switch s.Verdict.Status {
	case result.Invalid:
		return Observation{judge.Undecided, Generator, "INVALID: " + reasonsOf(s.Verdict, result.Invalid)}, nil
	case result.Unstable:
		o := Observation{judge.Missed, Backlog, "UNSTABLE: " + reasonsOf(s.Verdict, result.Unstable)}
		if judge.Overloads(s.Verdict) {
			o.Outcome, o.Limit = judge.Undecided, Generator
		}
		return o, nil
	}
	if share, ok := s.Rate.SentShare(); ok && share < leastSentShare {
		found := spell.ExactShare(share) + " of the messages due was sent"
		if c := run.Counters; c.Rejected > 0 && share+float64(c.Rejected)/float64(max(c.Scheduled, 1)) >= leastSentShare {
			return Observation{judge.Missed, Refusals, found + ": the client refused " + spell.Plural(c.Rejected, "message")}, nil
		}
		if byGenerator >= 0 {
			return Observation{judge.Undecided, Generator, found + ": " + s.Verdict.Reasons[byGenerator].Text}, nil
		}
		return Observation{judge.Missed, Backlog, found + ", because sends were blocked"}, nil
	}
	if n := run.Counters.LostAcked; n > 0 {
		return Observation{judge.Missed, Loss, spell.Plural(n, "acknowledged message") + " lost"}, nil
	}
	var undecided *Observation
	var met []string
	for _, o := range objectives {
		d := judge.Decide(run, o)
		switch d.Outcome {
		case judge.Meaningless:
			return Observation{}, fmt.Errorf("the objective %s cannot be decided for this load: %s", o, d.Text)
		case judge.Missed:
			return Observation{judge.Missed, limitOf(d), o.String() + " is missed: " + d.Text}, nil
		case judge.Undecided:
			if undecided == nil {
				undecided = &Observation{judge.Undecided, "", o.String() + " is undecided: " + d.Text}
				// What is suspect by the generator's own doing will not be less so in a
				// longer run.
				if d.Suspect && byGenerator >= 0 {
					undecided.Limit = Generator
				}
			}
		default:
			met = append(met, d.Text)
		}
	}
	if undecided != nil {
		return *undecided, nil
	}
	return Observation{judge.Met, "", strings.Join(met, "; ")}, nil
}

// Together is what the workloads of a trial show together, each by its own
// objectives: met if all are. Where the generator is a limit of one, nothing is shown
// of any; else what one misses counts more than what another leaves undecided.
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

// reasonsOf are the texts of the reasons for a status.
func reasonsOf(v result.Verdict, status result.Status) string {
	var texts []string
	for _, r := range v.Reasons {
		if r.Status == status {
			texts = append(texts, r.Text)
		}
	}
	return strings.Join(texts, "; ")
}

// limitOf is what a missed objective is about.
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

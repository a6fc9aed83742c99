package judge

import (
	"fmt"
	"math"
	"strconv"

	"sixnines/internal/histograms"
	"sixnines/internal/spell"
	"sixnines/internal/stats"
	"sixnines/result"
	"sixnines/scenario"
)

// availability computes the share of the messages that were answered within the
// workload's timeout: delivered if the run has deliveries, else replied to, else
// acknowledged. The time counts from when a message was due, or in an unpaced run from when
// it was sent. A message given up before its timeout, as where the drain is shorter, counts
// as unknown, and both ends of the interval allow for it. The result is nil where the
// workload has no timeout or no metric to count.
func availability(run *result.Run, s *result.Summary) *result.Availability {
	text, err := scenario.FromRecord("header", run.Header.Scenario)
	if err != nil || text.Workload.Timeout <= 0 {
		return nil
	}
	for _, m := range []result.Metric{result.DeliveryResponse, result.RoundTripResponse, result.PublishResponse,
		result.DeliveryService, result.RoundTripService, result.PublishService} {
		d, x := s.Histograms[m], run.Metrics[m]
		if d == nil || d.Total() == 0 || d.Samples <= 0 {
			continue
		}
		a := &result.Availability{Metric: m, Limit: int64(text.Workload.Timeout), Of: d.Total()}
		if x.Hist != nil {
			a.Answered = d.Count - histograms.RanksOf(x.Hist).CountAbove(a.Limit)
		}
		if c := x.Censored; c != nil {
			a.Unknown = c.Count() - histograms.RanksOf(c).CountFrom(a.Limit)
		}
		a.Share = float64(a.Answered) / float64(a.Of)
		a.Low, a.High = answeredInterval(a, d.Samples)
		return a
	}
	return nil
}

// answeredInterval returns the exact interval of the share that was answered, by this many independent messages. Of those that
// could not be observed for the whole limit the lower end assumes that none would have been answered, the upper one that all would.
func answeredInterval(a *result.Availability, messages int64) (low, high float64) {
	low, _, _ = stats.ProportionInterval(scale(a.Answered, messages, a.Of, 0), messages, confidence)
	_, high, _ = stats.ProportionInterval(scale(a.Answered+a.Unknown, messages, a.Of, a.Of-1), messages, confidence)
	return min(low, a.Share), max(high, float64(a.Answered+a.Unknown)/float64(a.Of))
}

// ofAvailability decides an objective of availability. A single pause is in hundreds of messages, so the interval of messages
// decides nothing, as for a percentile: that 99 % are answered within the limit is that p99 is not above it. The one that does is
// that of as many independent messages as these are worth, by how many of each stretch of the run were not answered in time.
func (d *Decision) ofAvailability(run *result.Run, s *result.Summary) {
	a, o := s.Availability, d.Objective
	if a == nil {
		d.Text = "no message of the run was answered"
		return
	}
	d.Text = "it is " + near(a.Share)
	if a.Unknown > 0 {
		d.Text = "it is " + near(a.Share) + " to " + near(float64(a.Answered+a.Unknown)/float64(a.Of)) + ", since " + spell.Plural(a.Unknown, "message") + " could not be observed for the whole limit"
	}
	worth, na := a.Of, ""
	if x := s.Histograms[a.Metric]; x != nil {
		worth, na = independent(run, a, s.End, x.Samples)
	}
	if na != "" {
		d.Outcome = Undecided
		d.Text += ", and of messages only, which decides nothing, " + near(a.Low) + " to " + near(a.High) + "; by stretches of the run: n/a, " + na
		if failed := 1 - float64(a.Answered+a.Unknown)/float64(a.Of); (o.Op == ">" || o.Op == ">=") && failed > 0 && failed >= anyDependence*(1-o.Limit) {
			d.Outcome = Missed
			d.Text += "; more failed than dependence between messages can explain"
		}
	} else {
		low, high := answeredInterval(a, worth)
		d.Text += ", and with 95 % confidence " + near(low) + " to " + near(high) + " (by stretches of the run)"
		switch low, high := o.Holds(low), o.Holds(high); {
		case low && high:
			d.Outcome = Met
		case !low && !high:
			d.Outcome = Missed
		default:
			d.Outcome = Undecided
			d.Text += "; the interval contains the limit, so a longer run is needed to decide"
		}
	}
	if r := refused(run.Metrics[a.Metric]); d.Outcome == Missed && r > 0 {
		if _, high := answeredInterval(&result.Availability{Answered: a.Of - r, Share: float64(a.Of-r) / float64(a.Of), Of: a.Of}, max(1, worth)); !o.Holds(high) {
			d.Refused = true
			return
		}
	}
	d.suspectAvailability(run, s)
}

// suspectAvailability takes into account what is suspect of the percentile that the objective is about.
func (d *Decision) suspectAvailability(run *result.Run, s *result.Summary) {
	o := d.Objective
	p := Decision{Outcome: d.Outcome, Objective: scenario.Objective{Subject: string(s.Availability.Metric), Op: "<=", Limit: float64(s.Availability.Limit),
		Percent: min(100, math.Round(o.Limit*1e10)/1e8)}}
	if o.Op == "<" || o.Op == "<=" {
		p.Objective.Op = ">"
	}
	p.markSuspect(s.Verdict)
	p.ofService(run, s)
	d.Outcome, d.Suspect = p.Outcome, p.Suspect
	d.Text += p.Text
}

// independent returns how many independent messages those of an availability are worth; na says why that is not known.
func independent(run *result.Run, a *result.Availability, end, samples int64) (worth int64, na string) {
	blocks, _ := run.Blocks(a.Metric)
	if len(blocks) < leastBlocks {
		return 0, fmt.Sprintf("the run has %d intervals and needs at least %d: run longer, or set record.interval lower", len(blocks), leastBlocks)
	}
	b := failing{blockCounts: blocks, failed: make([]int64, len(blocks))}
	x := run.Metrics[a.Metric]
	at := func(slot int64) int64 { // the block in which a slot begins
		i := float64(slot) * float64(run.Header.Slot) * float64(len(blocks)) / float64(max(end, 1))
		return min(max(int64(i), 0), int64(len(blocks)-1))
	}
	for _, due := range [][][2]int64{x.UnansweredAt, x.RefusedAt} {
		for _, p := range due {
			from := at(p[0])
			over := max(1, at(p[0]+1)-from) // blocks that are shorter than a slot have equal parts of it
			for k := range over {
				b.failed[from+k] += p[1]*(k+1)/over - p[1]*k/over
			}
		}
	}
	factor, memory := stats.VarianceFactor(b, histograms.BlockValueOf(a.Limit))
	if memory > len(blocks)/stats.LeastChunks {
		return 0, resemble(float64(memory) * float64(end) / float64(len(blocks)))
	}
	return max(1, int64(float64(samples)/factor)), ""
}

// failing are blocks with the messages of each that were never answered, which are above every value.
type failing struct {
	blockCounts
	failed []int64
}

func (f failing) Count(i int) int64        { return f.blockCounts.Count(i) + f.failed[i] }
func (f failing) Above(i int, v int) int64 { return f.blockCounts.Above(i, v) + f.failed[i] }

// near writes a share of 1 with enough digits to tell it from 1,
// rounded down: less than all is not written as 100 %.
func near(share float64) string {
	return strconv.FormatFloat(math.Floor(share*1e6)/1e4, 'f', -1, 64) + " %"
}

package judge

import (
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
		var ok, also bool
		a.Low, _, ok = stats.ProportionInterval(scale(a.Answered, d.Samples, a.Of, 0), d.Samples, confidence)
		_, a.High, also = stats.ProportionInterval(scale(a.Answered+a.Unknown, d.Samples, a.Of, a.Of-1), d.Samples, confidence)
		if !ok || !also {
			return nil
		}
		a.Low, a.High = min(a.Low, a.Share), max(a.High, float64(a.Answered+a.Unknown)/float64(a.Of))
		return a
	}
	return nil
}

// ofAvailability decides an objective of availability by both ends of the interval.
func (d *Decision) ofAvailability(a *result.Availability) {
	if a == nil {
		d.Text = "no message of the run was answered"
		return
	}
	low, high := d.Objective.Holds(a.Low), d.Objective.Holds(a.High)
	d.Text = "it is " + near(a.Share)
	if a.Unknown > 0 {
		d.Text = "it is " + near(a.Share) + " to " + near(float64(a.Answered+a.Unknown)/float64(a.Of)) + ", since " + spell.Plural(a.Unknown, "message") + " could not be observed for the whole limit"
	}
	d.Text += ", and with 95 % confidence " + near(a.Low) + " to " + near(a.High)
	switch {
	case low && high:
		d.Outcome = Met
	case !low && !high:
		d.Outcome = Missed
	default:
		d.Outcome = Undecided
		d.Text += "; the interval contains the limit, so a longer run is needed to decide"
	}
}

// near writes a share of 1 with enough digits to tell it from 1,
// rounded down: less than all is not written as 100 %.
func near(share float64) string {
	return strconv.FormatFloat(math.Floor(share*1e6)/1e4, 'f', -1, 64) + " %"
}

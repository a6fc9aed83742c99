package study

import (
	"slices"

	"sixnines/result"
)

// recovers is how many times its own length a disturbance counts: as much again may pass until all runs as before. A
// verdict counts it so for percentiles.
const recovers = 2

// little is up to which share of the window may be taken from a rate that needs no other round. It is known to a tenth
// then, if it is of the whole window.
const little = 0.02

// taken returns which share of the window the reasons took at most, what it takes to recover included, if all of
// them are pauses or stolen time of which that is known. Several may be of the same time, so this is no less
// than all together.
func taken(all []result.Reason) (share float64, ok bool) {
	for _, r := range all {
		if r.Share <= 0 || r.Code.Properties().Effect != result.EffectLonger {
			return 0, false
		}
		share += recovers * r.Share
	}
	return share, len(all) > 0
}

// stopsAll reports whether the reasons stopped both sides of the generator at once, as pauses of its one process do.
func stopsAll(run *result.Run, reasons []result.Reason) bool {
	return run.Header.Fleet == nil && !slices.ContainsFunc(reasons, func(r result.Reason) bool {
		return r.Code != result.ReasonFrozen
	})
}

// boundPlain sets between which values a rate or a length of time lies if the run is suspect for what took a known
// share of its window, see [taken].
//
// The most of a rate is what was done over the time that is left; of a load with a schedule that is no more than
// the schedule asks for. Its least is what was measured where all of the generator stopped. Steal, throttling and
// garbage collection beside the load may be of the consumers or of the broker's delivery alone, and a sender is
// faster while nobody consumes: then the least is as far below as the most is above, which holds as long as the
// sender is no more than twice as fast meanwhile. What went on outside of the window is taken to be disturbed as
// much as the window: a rate ends with its last message. An outage, or a pause of the senders, was not longer than
// measured, and shorter by no more than all that was taken.
func (f *Figure) boundPlain(run *result.Run, name string) {
	s := run.Summary
	reasons := wholly(s.Verdict)
	share, ok := taken(reasons)
	if !ok || f.Missing != "" || f.Unfit == "" || f.Selects || s.Verdict.Status != result.Suspect {
		return
	}
	window := float64(s.End)
	switch name {
	case "sender.pause", "unavailable", "recovered":
		f.BySize = true
		f.Least, f.Most = max(f.Low-share*window, 0), f.High
		f.leastOwn, f.mostOwn = f.Least, f.Most
	case "rate.sent", "rate.sender", "rate.received", "rate.bytes", "fill", "drain":
		f.BySize, f.Little = true, share <= recovers*little
		took := lasted(run, name)
		lost := share * max(window, took)
		if lost < took {
			f.Least, f.Most = f.Value*(took-lost)/took, f.Value*took/(took-lost)
		}
		if stopsAll(run, reasons) {
			f.Least = f.Value
		}
		if seconds := window / 1e9; run.Header.Mode == result.ModeOpen && name != "rate.received" && seconds > 0 {
			asked := float64(run.Counters.Scheduled) / seconds
			if name == "rate.bytes" {
				asked *= float64(run.Header.Size)
			}
			f.Most = min(f.Most, max(asked, f.Value))
		}
	}
}

// lasted returns over how long a rate was taken, ns.
func lasted(run *result.Run, name string) float64 {
	s := run.Summary
	over := func(n int64, rate float64) float64 {
		if rate <= 0 {
			return float64(s.End)
		}
		return float64(n) / rate * 1e9
	}
	switch {
	case name == "fill" && s.Backlog != nil:
		return over(s.Backlog.Filled, s.Backlog.FillRate)
	case name == "drain" && s.Backlog != nil:
		return over(s.Backlog.Drained, s.Backlog.DrainRate)
	case s.Throughput != nil && name != "rate.sender":
		return float64(s.Throughput.Elapsed)
	}
	return float64(s.End)
}

package selftest

import (
	"fmt"
	"runtime"
	"time"

	"sixnines/internal/spell"
	"sixnines/internal/vitals"
	"sixnines/result"
)

// The limits of a disturbance, as shares of the time of all processors. For steal it
// is the bound above which a run is suspect (METHOD, section 8). For other processes
// it is a fifth of one of two processors: from there on a sleeping thread is
// sometimes woken only after another thread's time slice.
const (
	disturbedSteal  = 0.005
	disturbedOthers = 0.10
)

// watch detects disturbances of the machine by other programs.
type watch struct {
	monitor *vitals.Monitor
	cpu     time.Duration // used by this process and its ended children before the start
}

// watchPeriod is the period of the hiccup meters. A watch needs only the counters, and
// as few wake-ups as possible.
const watchPeriod = 100 * time.Millisecond

func startWatch() *watch {
	return &watch{vitals.Start(vitals.Options{Period: watchPeriod}), ownCPU()}
}

// end stops the watch and describes what disturbed the machine since its start.
// Children that still run count as other programs, except for ours, the processor
// time that they have used since the start.
func (w *watch) end(ours time.Duration) []string {
	sample := w.monitor.Sample()
	w.monitor.Stop()
	value := func(name result.Vital) float64 {
		v, _ := sample.Lookup(name) // an unknown value is no disturbance
		return v.Value
	}
	return seen{
		elapsed: sample.Elapsed(), cores: runtime.NumCPU(), own: ownCPU() - w.cpu + ours,
		busy: value(result.VitalHostBusy), steal: value(result.VitalHostSteal), throttled: value(result.VitalCgroupThrottled),
		swapped: value(result.VitalHostSwapIn), suspended: time.Duration(value(result.VitalHostSuspended)),
	}.disturbances()
}

// seen has the counters of an interval.
type seen struct {
	elapsed   time.Duration
	busy      float64 // share of the machine's processors' time, 0 to 1
	own       time.Duration
	steal     float64 // share
	throttled float64 // periods
	swapped   float64 // pages
	suspended time.Duration
	cores     int
}

// disturbances describes the disturbances by other programs; nil if there were none.
func (s seen) disturbances() []string {
	var found []string
	if s.steal > disturbedSteal {
		found = append(found, fmt.Sprintf("the hypervisor gave %s of the processors' time to others", spell.Share(s.steal)))
	}
	if s.throttled > 0 {
		found = append(found, fmt.Sprintf("a processor quota (cgroup) throttled sixnines in %.0f periods", s.throttled))
	}
	if s.swapped > 0 {
		found = append(found, fmt.Sprintf("%s pages were swapped in", spell.Count(int64(s.swapped))))
	}
	if s.suspended > 0 {
		found = append(found, fmt.Sprintf("the machine was suspended for %s", Time(s.suspended)))
	}
	if others := s.busy - s.own.Seconds()/(s.elapsed.Seconds()*float64(s.cores)); s.elapsed > 0 && others > disturbedOthers {
		found = append(found, fmt.Sprintf("other programs used %s of the processors", spell.Share(others)))
	}
	return found
}

// ownCPU returns the processor time that this process and its ended children have used.
func ownCPU() time.Duration {
	own, children := vitals.ProcessorTime()
	return own + children
}

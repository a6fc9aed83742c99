package scenario

import (
	"fmt"
	"slices"
)

// arrivalsKeys returns the keys that a kind needs beside kind itself. Other keys belong
// to other kinds.
func arrivalsKeys(k ArrivalsKind) []string {
	switch k {
	case Step:
		return []string{"steps"}
	case Ramp:
		return []string{"from", "to"}
	case Sine:
		return []string{"amplitude", "period"}
	case Burst:
		return []string{"count", "period"}
	case Trace:
		return []string{"file"}
	}
	return nil
}

// given returns which of the keys beside kind and random are set.
func (a *Arrivals) given() map[string]bool {
	return map[string]bool{
		"steps": len(a.Steps) > 0, "from": !a.From.IsZero(), "to": !a.To.IsZero(),
		"amplitude": a.Amplitude != 0, "period": a.Period != 0, "count": a.Count != 0, "file": a.File != "",
	}
}

// arrivals checks that arrivals have what their kind needs, and nothing else.
func (v *validator) arrivals() {
	const key = "workload.arrivals"
	w := &v.s.Workload
	a := &w.Arrivals
	if a.isZero() {
		v.paces()
		return
	}
	if a.Kind == "" {
		v.fail("arrivals without a kind", "give "+key+".kind", key)
		return
	}
	needs, given := arrivalsKeys(a.Kind), a.given()
	complete := true
	for _, f := range []string{"steps", "from", "to", "amplitude", "period", "count", "file"} {
		switch needed := slices.Contains(needs, f); {
		case needed && !given[f]:
			complete = false
			v.fail(fmt.Sprintf("%s arrivals without %s", a.Kind, f), fmt.Sprintf("give %s.%s, or write such as %s", key, f, formOf(a.Kind)), key+"."+f, key)
		case !needed && given[f]:
			v.fail(fmt.Sprintf("%s does not belong to %s arrivals", f, a.Kind), "leave it out, or change kind", key+"."+f, key)
		}
	}
	v.refuse(a.Random && !a.Kind.canBeRandom(), fmt.Sprintf("%s arrivals cannot be made random", a.Kind), "random is for step, ramp and sine; poisson is random by itself", key+".random", key)
	v.refuse(!a.Kind.usesRate() && !w.Rate.IsZero() && !w.Rate.IsMax(), fmt.Sprintf("%s arrivals give their own rate", a.Kind), "leave out workload.rate", "workload.rate", key)
	if complete {
		v.paces()
	}
}

// paces checks the rates of an open loop.
func (v *validator) paces() {
	const key = "workload.arrivals"
	w := &v.s.Workload
	a := &w.Arrivals
	limit := func(r Rate, what string, keys ...string) {
		switch {
		case r.IsMax():
			v.fail(what+" cannot be max", "give a rate; max is for workload.rate", keys...)
		case r.Messages > 0 && (r.Per <= 0 || r.Per > MaxPer):
			v.fail(fmt.Sprintf("%s counts over %v", what, r.Per), fmt.Sprintf("a rate counts over a time above 0 and at most %v", MaxPer), keys...)
		case r.above(MaxOpenRate):
			v.fail(fmt.Sprintf("%s of %v is above %d/s", what, r, MaxOpenRate), "schedules go up to 10M/s; rate: max sends as fast as possible", keys...)
		}
	}
	if !w.Rate.IsMax() {
		limit(w.Rate, "the rate", "workload.rate")
	}
	switch a.Kind {
	case Step:
		for i, s := range a.Steps {
			keys := []string{fmt.Sprintf("%s.steps[%d]", key, i), key + ".steps", key}
			v.refuse(s.Rate.IsZero(), "a step without its rate", "give rate, such as 1000/s", keys...)
			v.refuse(s.For == 0, "a step without its length", "give for, such as 10s", keys...)
			limit(s.Rate, "the rate of a step", append([]string{keys[0] + ".rate"}, keys...)...)
		}
	case Ramp:
		limit(a.From, "the rate from which to go", key+".from", key)
		limit(a.To, "the rate to which to go", key+".to", key)
	case Sine:
		if !(a.Amplitude > 0 && a.Amplitude <= 1) {
			v.fail(fmt.Sprintf("an amplitude of %v", a.Amplitude), "a fraction of the rate, above 0 and at most 1", key+".amplitude", key)
		} else if !w.Rate.IsMax() && w.Rate.Float()*(1+a.Amplitude) > MaxOpenRate {
			v.fail(fmt.Sprintf("the sine rises to %.6g/s, above %d/s", w.Rate.Float()*(1+a.Amplitude), MaxOpenRate), "lower workload.rate or the amplitude", "workload.rate", key)
		}
	case Burst:
		limit(Rate{Messages: a.Count, Per: a.Period}, "the mean rate of the bursts", key+".count", key)
	}
}

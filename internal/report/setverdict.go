package report

import "sixnines/result"

// SetVerdict says up to which percentile the median over a set of runs holds.
type SetVerdict struct {
	Status  result.Status     `json:"status"`             // VALID, SUSPECT or INVALID
	ValidTo result.Percentile `json:"valid_to,omitempty"` // the highest percentile at which more than half of the runs are valid; empty: none
	Next    result.Percentile `json:"next,omitempty"`     // the first at which no more than half are; empty: none that they support
	Valid   int               `json:"valid"`              // runs that are valid at Next
	Runs    int               `json:"runs"`
}

// SetVerdictOf returns the verdict of runs of one load, each of one workload; nil with fewer
// than two.
func SetVerdictOf(runs []*result.Run) *SetVerdict {
	if len(runs) < 2 {
		return nil
	}
	prepared, _ := subjects(runs) // there are some
	x := SetVerdict{Runs: len(runs)}
	x.Status, x.ValidTo, x.Next, x.Valid = (&repeats{runs: prepared}).setVerdict()
	return &x
}

// setVerdict says up to which percentile a set of runs holds as one. A percentile of the set is
// the median over its runs, and holds where more than half of them are valid there: that median
// then lies between two valid figures, whatever the other runs have. It is of the latency that
// the runs are about.
func (r *repeats) setVerdict() (status result.Status, validTo, next result.Percentile, valid int) {
	m := r.runs[0].measuredMetric()
	for _, p := range screenRows() {
		if p == result.Maximum {
			break
		}
		n, known := 0, 0
		for _, s := range r.runs {
			c := s.column(m)
			if c == nil || c.at(p).Needs > 0 {
				continue
			}
			known++
			if f := c.at(p); !s.worthless() && !s.cut && s.sum.Verdict.Status == result.Valid && f.ok() && f.stands() == result.Valid {
				n++
			}
		}
		if 2*known <= len(r.runs) {
			break // no more than half of the runs support it
		}
		if 2*n <= len(r.runs) {
			next, valid = p, n
			break
		}
		validTo = p
	}
	if status = result.Suspect; validTo != "" {
		status = result.Valid
	} else if r.mostly((*subject).worthless) {
		status = result.Invalid
	}
	return status, validTo, next, valid
}

// mostly reports whether something is true of at least half of the runs.
func (r *repeats) mostly(is func(*subject) bool) bool {
	n := 0
	for _, s := range r.runs {
		if is(s) {
			n++
		}
	}
	return 2*n >= len(r.runs)
}

// setLines are the verdicts of the sets among runs, one line each.
func setLines(prepared []*subject) (out []text) {
	for _, r := range repeatsOf(prepared) {
		if len(r.runs) < 2 {
			continue
		}
		status, validTo, next, valid := r.setVerdict()
		line := string(status)
		if next != "" && validTo != "" {
			line += " to " + rowName(validTo)
		}
		if next != "" {
			line += "; at " + rowName(next) + " " + count(int64(valid)) + " of " + plural(int64(len(r.runs)), "run") + " are valid, and more than half must be"
		}
		out = append(out, text{Class: "outcome", Text: r.what("the set of "+plural(int64(len(r.runs)), "run")+": ") + line, setting: setting{Style: statusStyle(status)}})
	}
	return out
}

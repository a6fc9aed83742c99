package compare

import (
	"math"
	"slices"

	"sixnines/result"
)

// Account is a counter or a rate of both sets: a fact of these runs. [Gate] has the
// judgements about them.
type Account struct {
	Name string  `json:"name"`
	A    float64 `json:"a"`
	B    float64 `json:"b"`
	Unit string  `json:"unit"` // "messages", "/s", "of due"
	// RunsA and RunsB are the numbers of runs in which a counter is not zero.
	RunsA int `json:"runs_a,omitempty"`
	RunsB int `json:"runs_b,omitempty"`
	// Loss says that the account counts lost messages.
	Loss bool `json:"-"`
}

// accounts sums counters over the runs of each side. Of rates, which have no sum, it
// takes the smallest.
func accounts(pairs []couple) []Account {
	out := []Account{}
	if len(pairs) == 0 {
		return out
	}
	for _, k := range []struct {
		name         string
		always, loss bool
		value        func(*result.Counters) int64 // nil: what is lost although acknowledged
	}{
		{"due", true, false, func(c *result.Counters) int64 { return c.Scheduled }},
		{"not sent", false, false, func(c *result.Counters) int64 { return c.NotSent }},
		{"refused", false, false, func(c *result.Counters) int64 { return c.Rejected + c.Nacked }},
		{"lost", true, true, func(c *result.Counters) int64 { return c.Missing }},
		{"lost although acknowledged", false, true, nil},
		{"corrupted", false, false, (*result.Counters).Damaged},
		{"duplicated", false, false, func(c *result.Counters) int64 { return c.Duplicated }},
		{"reordered", false, false, func(c *result.Counters) int64 { return c.Reordered }},
	} {
		a := Account{Name: k.name, Unit: "messages", Loss: k.loss}
		for _, p := range pairs {
			for i, sum := range []*float64{&a.A, &a.B} {
				n, _ := p.runs[i].Summary.LostAcked()
				if k.value != nil {
					n = k.value(&p.runs[i].Summary.Counters)
				}
				*sum += float64(n)
				if n != 0 {
					*[]*int{&a.RunsA, &a.RunsB}[i]++
				}
			}
		}
		if k.always || a.A+a.B > 0 {
			out = append(out, a)
		}
	}
	if !slices.ContainsFunc(pairs, func(p couple) bool { return p.runs[0].Header.Rate == 0 || p.runs[1].Header.Rate == 0 }) {
		for _, k := range []struct {
			name, unit string
			value      func(*result.Summary) float64
		}{
			{"rate kept, worst run", "of due", func(s *result.Summary) float64 {
				share, _ := s.Rate.SentShare()
				return share
			}},
			{"worst second of any run", "of due", func(s *result.Summary) float64 { return s.Rate.WorstSecond }},
		} {
			a := Account{Name: k.name, Unit: k.unit, A: math.Inf(1), B: math.Inf(1)}
			for _, p := range pairs {
				a.A, a.B = min(a.A, k.value(p.runs[0].Summary)), min(a.B, k.value(p.runs[1].Summary))
			}
			if !math.IsNaN(a.A+a.B) && !math.IsInf(a.A+a.B, 0) {
				out = append(out, a)
			}
		}
	}
	return out
}

// suspectReasons collects why the compared runs are SUSPECT, one entry for each side, reason
// and metric.
func suspectReasons(pairs []couple) []SuspectReason {
	out := []SuspectReason{}
	for i := range 2 {
		for _, p := range pairs {
			r := p.runs[i]
			counted := map[int]bool{} // a run counts once for each reason
			add := func(code result.ReasonCode, m result.Metric, percentile result.Percentile, found, text string) {
				at := slices.IndexFunc(out, func(d SuspectReason) bool { return d.Side == side(i) && d.Code == code && d.Metric == m })
				if at < 0 {
					at = len(out)
					out = append(out, SuspectReason{Side: side(i), Code: code, Metric: m, Text: text, Found: found})
				}
				d := &out[at]
				if !counted[at] {
					counted[at] = true
					d.Runs++
				}
				if percentile != "" && !slices.Contains(d.Percentiles, percentile) {
					d.Percentiles = append(d.Percentiles, percentile)
				}
			}
			if r.Summary.Interrupted {
				add(result.ReasonInterrupted, "", "", "the window was ended early", "the window was ended early")
			}
			for _, reason := range r.Summary.Verdict.Reasons {
				if reason.Status != result.Valid {
					add(reason.Code, reason.Metric, reason.Percentile, reason.What(), reason.Text)
				}
			}
		}
	}
	return out
}

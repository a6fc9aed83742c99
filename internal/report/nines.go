package report

import (
	"encoding/json"
	"io"
	"math"
	"math/big"
	"strconv"
	"strings"

	"sixnines/internal/judge"
	"sixnines/internal/stats"
	"sixnines/result"
)

// UserModel describes how users use the measured system: each user sees Requests × Pages
// responses, and a share of users must see no slow one.
type UserModel struct {
	Requests int64   // a page, from 1 up
	Pages    int64   // a session, from 1 up
	Users    float64 // share of users who must meet nothing slower, in (0, 1)
}

// UsualUserModel is the default of reports: pages of 40 requests, sessions of 5 pages,
// and 99 of 100 users without a slow response.
func UsualUserModel() UserModel { return UserModel{Requests: 40, Pages: 5, Users: 0.99} }

// responses returns how many responses a user sees.
func (a UserModel) responses() float64 { return float64(a.Requests) * float64(a.Pages) }

// needed returns the percentile that must be fast enough for the share of users, rounded
// up to two digits of the share that it leaves out.
func (a UserModel) needed() result.Percentile {
	return percentileAbove(stats.Allowed(a.Users, a.responses()))
}

// percentileAbove writes the percentile that leaves out at most the share
// worse, with two digits of that: 0.00005025 is "99.995".
func percentileAbove(worse float64) result.Percentile {
	left := worse * 100
	decimals := max(0, int(math.Ceil(-math.Log10(left)))+1)
	digits := math.Floor(left * math.Pow(10, float64(decimals)) * (1 + 1e-12))
	// In whole units of the last digit, since a float64 near 100 has a resolution of 1e-14.
	scale := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(decimals)), nil)
	units := new(big.Int).Mul(big.NewInt(100), scale)
	units.Sub(units, big.NewInt(int64(digits)))
	text := new(big.Rat).SetFrac(units, scale).FloatString(decimals)
	if strings.Contains(text, ".") {
		text = strings.TrimRight(strings.TrimRight(text, "0"), ".")
	}
	return result.Percentile(text)
}

// worseThan returns the share of responses that a percentile leaves out, computed from
// its decimal text: 1 − 0.99 in floating point is not 0.01.
func worseThan(percentile result.Percentile) float64 {
	p, ok := new(big.Rat).SetString(string(percentile))
	if !ok {
		return math.NaN()
	}
	worse, _ := new(big.Rat).Sub(big.NewRat(1, 1), p.Quo(p, big.NewRat(100, 1))).Float64()
	return worse
}

// measuredMetric returns the latency that is shown beside: the run's first response
// time, else its first latency; empty if it has neither.
func (s *subject) measuredMetric() result.Metric {
	for _, f := range s.tables {
		if f.Key != "lag" && !f.Apart {
			return f.Columns[0].Metric
		}
	}
	return ""
}

// figureAt returns the figure of any percentile: the summary's if it is a published
// one, else computed by the same rules.
func (s *subject) figureAt(m result.Metric, percentile result.Percentile) figure {
	col := s.column(m)
	if col == nil {
		return figure{Percentile: percentile, Absent: true}
	}
	for _, f := range col.Figures {
		if f.Percentile == percentile {
			return f
		}
	}
	f := figure{Percentile: percentile}
	percent, ok := percentile.Number()
	merged := s.run.Metrics[m]
	if !ok || merged == nil || merged.Hist == nil || col.Dist.Total() == 0 {
		f.Absent = true
		return f
	}
	f.Figure = judge.PercentileOf(merged, max(col.Dist.Samples, 1), percent)
	if f.Needs > 0 || f.Refused {
		return f
	}
	f.Unstable = s.sum.Verdict.Status == result.Unstable && m.IsResponse()
	f.worth(s.sum.Verdict.Of(m, percentile))
	return f
}

// userShare writes a share of users with two digits of the smaller share: that of users
// who meet a slow response, or of those who do not.
func userShare(f float64) string {
	two := func(v float64) string {
		decimals := max(0, int(math.Ceil(-math.Log10(v)))+1)
		return strconv.FormatFloat(v, 'f', min(decimals, 12), 64)
	}
	p := f * 100
	switch {
	case math.IsNaN(p):
		return "n/a"
	case p <= 0:
		return "none"
	case p < 10:
		text := two(p)
		if strings.Contains(text, ".") {
			text = strings.TrimRight(strings.TrimRight(text, "0"), ".")
		}
		return text + " %"
	case p > 99.99:
		return ">99.99 %"
	case p > 99:
		return strconv.FormatFloat(math.Floor(p*100)/100, 'f', 2, 64) + " %"
	}
	return strconv.FormatFloat(p, 'f', 0, 64) + " %"
}

// oneIn is how rare a share is: "1 in 1,000".
func oneIn(worse float64) string {
	if !(worse > 0) {
		return "none"
	}
	n := 1 / worse
	if n < 99.5 && math.Abs(n-math.Round(n)) > 1e-6 {
		return "1 in " + strconv.FormatFloat(n, 'g', 3, 64)
	}
	return "1 in " + count(int64(math.Round(n)))
}

// sessionText is what each user sees, in words.
func (a UserModel) sessionText() string {
	n := a.Requests
	if n > math.MaxInt64/a.Pages {
		return plural(a.Requests, "request") + " per page × " + plural(a.Pages, "page") + " per session"
	}
	return plural(a.Requests, "request") + " per page × " + plural(a.Pages, "page") + " per session = " + plural(n*a.Pages, "response") + " per user"
}

// assumption explains the assumptions behind the shares of users.
const assumption = "Independent: each response is slow with the same probability. Clustered: slow responses come together and affect the same users. Real systems are slow in bursts and lie between the two."

// Nines writes what percentiles mean for users as a table for people:
// the share of users who meet at least one response that is worse, and which
// percentile must be good for enough of them. With a run, its measured
// percentiles stand beside. Percentiles are decimals as people write them, in
// (0, 100).
func Nines(w io.Writer, a UserModel, percentiles []result.Percentile, run *result.Run, opt Options) error {
	var out document
	var s *subject
	if run != nil {
		s = subjectOf(run)
		out.add(verdictOf(s, false, false, inTerminal), gap{})
	}
	out.say("", a.sessionText(), strong)
	x := &table{Head: columnHeads("lr", "worse than", "responses", "users, clustered", "users, independent"), Fixed: true}
	var m result.Metric
	if s != nil {
		if m = s.measuredMetric(); m != "" {
			x.Head = append(x.Head, cell{Text: "measured", Right: true})
		}
	}
	for _, percentile := range percentiles {
		worse := worseThan(percentile)
		e := stats.Meet(worse, a.responses())
		r := x.add(rowName(percentile), oneIn(worse), userShare(e.Clustered), userShare(e.Independent))
		if m != "" {
			f := s.figureAt(m, percentile)
			r.Cells = append(r.Cells, figureCell(f))
			r.Notes = f.notes()
		}
	}
	out.add(gap{}, x, gap{})
	out.say("", a.neededText(s, m), normal)
	out.add(gap{})
	out.say("", assumption, faint)
	if m != "" {
		out.say("", "Measured: the "+metricName(m)+".", faint)
	}
	p := newPrinter(opt)
	p.document(out)
	return p.write(w)
}

// neededText says which percentile must be good, and what it is in a run if
// there is one.
func (a UserModel) neededText(s *subject, m result.Metric) string {
	needed := a.needed()
	text := "For " + userShare(a.Users) + " of users to get no response slower than a limit, " + rowName(needed) + " must be below the limit"
	if s != nil && m != "" {
		text += " (" + metricName(m) + " " + rowName(needed) + " is " + s.figureAt(m, needed).text() + ")"
	}
	return text + "; if slow responses cluster completely, " + rowName(percentileAbove(1-a.Users)) + " is enough."
}

// ninesObject is the JSON form of [Nines].
type ninesObject struct {
	Requests    int64        `json:"requests"`
	Pages       int64        `json:"pages"`
	Percentiles []ninesEntry `json:"percentiles"`
	Needed      struct {
		Users      float64           `json:"users"`
		Worse      float64           `json:"worse"`      // share of responses that may be
		Percentile result.Percentile `json:"percentile"` // rounded up
		Clustered  result.Percentile `json:"clustered"`
		Measured   *measuredEntry    `json:"measured,omitempty"`
	} `json:"needed"`
	Result string        `json:"result,omitempty"`
	Metric result.Metric `json:"metric,omitempty"`
	Status result.Status `json:"status,omitempty"` // the verdict's
	// ValidTo is the verdict's.
	ValidTo result.Percentile `json:"valid_to,omitempty"`
}

type ninesEntry struct {
	Percentile result.Percentile `json:"percentile"`
	Worse      float64           `json:"worse"`
	Users      struct {
		Clustered   float64 `json:"clustered"`
		Independent float64 `json:"independent"`
		Most        float64 `json:"most"`
	} `json:"users"`
	Measured *measuredEntry `json:"measured,omitempty"`
}

// measuredEntry is a figure for programs; it has a value or a need.
type measuredEntry struct {
	Value *int64 `json:"value,omitempty"` // ns
	Needs int64  `json:"needs,omitempty"` // messages
	Mark  string `json:"mark,omitempty"`  // as in CSV
}

func newMeasured(f figure) *measuredEntry {
	e := &measuredEntry{Needs: f.Needs, Mark: f.mark()}
	if f.ok() {
		e.Value = &f.Value
	}
	return e
}

// NinesJSON writes what [Nines] does as one object on one line: shares in [0,
// 1], times in nanoseconds. users.most is the bound that no way to fall
// exceeds, see [stats.Encounter].
func NinesJSON(w io.Writer, a UserModel, percentiles []result.Percentile, run *result.Run) error {
	o := ninesObject{Requests: a.Requests, Pages: a.Pages, Percentiles: []ninesEntry{}}
	var s *subject
	if run != nil {
		s = subjectOf(run)
		o.Result, o.Metric, o.Status = run.Path, s.measuredMetric(), s.sum.Verdict.Status
		o.ValidTo = s.sum.Verdict.ValidTo
	}
	for _, percentile := range percentiles {
		e := ninesEntry{Percentile: percentile, Worse: worseThan(percentile)}
		met := stats.Meet(e.Worse, a.responses())
		e.Users.Clustered, e.Users.Independent, e.Users.Most = met.Clustered, met.Independent, met.Most
		if o.Metric != "" {
			e.Measured = newMeasured(s.figureAt(o.Metric, percentile))
		}
		o.Percentiles = append(o.Percentiles, e)
	}
	o.Needed.Users, o.Needed.Worse = a.Users, stats.Allowed(a.Users, a.responses())
	o.Needed.Percentile, o.Needed.Clustered = a.needed(), percentileAbove(1-a.Users)
	if o.Metric != "" {
		o.Needed.Measured = newMeasured(s.figureAt(o.Metric, o.Needed.Percentile))
	}
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	return e.Encode(o)
}

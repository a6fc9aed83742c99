package report

import (
	"strconv"

	"sixnines/internal/compare"
)

// CompareJUnit makes a suite of a comparison: a case for its outcome, and one for each subject that is judged. With gate a
// subject that is worse fails, and so does an undecided one, which allowUndecided skips; without it both pass, with what was
// found as output. A comparison of nothing is an error.
func CompareJUnit(c *compare.Comparison, gate, allowUndecided bool) JUnitSuite {
	x := JUnitSuite{Name: "comparison", Started: c.A.From, Properties: [][2]string{{"a", c.A.Label}, {"b", c.B.Label}, {"pairs", strconv.Itoa(len(c.Pairs))}}}
	if c.Workload != "" {
		x.Name += " " + c.Workload
	}
	if c.B.From.Before(c.A.From) {
		x.Started = c.B.From
	}
	x.Seconds = later(c.A.To, c.B.To).Sub(x.Started).Seconds()
	for _, change := range changesText(c) {
		x.Properties = append(x.Properties, [2]string{"change", change})
	}
	outcome := JUnitCase{Name: "outcome", Output: c.Text}
	if c.Outcome == compare.Nothing {
		outcome.Error = c.Text
	}
	x.Cases = append(x.Cases, outcome)
	for _, j := range c.Gate.Judged {
		k := JUnitCase{Name: c.Gate.Name(j), Output: string(j.Answer) + ": " + j.Text}
		switch {
		case j.Answer == compare.Worse && gate:
			k.Failure, k.Message = string(j.Answer), j.Text
		case j.Answer == compare.Open && gate && allowUndecided:
			k.Skipped = j.Text
		case j.Answer == compare.Open && gate:
			k.Failure, k.Message = string(j.Answer), j.Text
		}
		x.Cases = append(x.Cases, k)
	}
	return x
}

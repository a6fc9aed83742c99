package report

import "sixnines/result"

// cutSummary is what can be said of a run whose file ends without a summary.
func cutSummary(r *result.Run) *result.Summary {
	return &result.Summary{
		Type: "summary",
		Verdict: result.Verdict{Status: result.Invalid, Reasons: []result.Reason{{
			Status: result.Invalid, Code: "cut-short",
			Text: "the run was killed before it could close its accounts",
		}}},
		Counters: r.Counters,
	}
}

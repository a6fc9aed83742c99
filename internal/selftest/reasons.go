package selftest

import (
	"slices"
	"strings"

	"sixnines/result"
)

// noCodes is what codesThat returns without a match.
const noCodes = "none"

// codesThat lists the codes of the reasons that lower a run's verdict and for which holds
// is true, or returns noCodes.
func codesThat(run *result.Run, holds func(result.Reason) bool) string {
	var codes []string
	for _, r := range run.Summary.Verdict.Reasons {
		if r.Status != result.Valid && holds(r) && !slices.Contains(codes, string(r.Code)) {
			codes = append(codes, string(r.Code))
		}
	}
	if len(codes) == 0 {
		return noCodes
	}
	return strings.Join(codes, ", ")
}

// has reports whether a reason has one of the codes.
func has(codes ...result.ReasonCode) func(result.Reason) bool {
	return func(r result.Reason) bool { return slices.Contains(codes, r.Code) }
}

// anyReason returns true for every reason.
func anyReason(result.Reason) bool { return true }

// byGenerator reports whether a reason is, or may be, caused by the generator itself and not
// by its machine.
func byGenerator(r result.Reason) bool {
	by := r.Code.Properties().By
	return by == result.ByGenerator || by == result.ByEither
}

package selftest

import (
	"testing"

	"sixnines/result"
)

// The trial fails if a starved broker is not named, or if one that had a processor is.
func TestBrokerStarvedNotices(t *testing.T) {
	of := func(validTo string, reasons ...result.Reason) *result.Run {
		return &result.Run{Summary: &result.Summary{Verdict: result.Verdict{Status: result.Valid, ValidTo: result.Percentile(validTo), Reasons: reasons}}}
	}
	named := result.Reason{Status: result.Suspect, Code: "starved", Percentile: "75"}
	fails(t, "as it should be", judgeBrokerStarved(of(""), of("50", named)), "")
	fails(t, "not named", judgeBrokerStarved(of(""), of("50")), "reasons")
	fails(t, "only a note", judgeBrokerStarved(of(""), of("50", result.Reason{Status: result.Valid, Code: "starved"})), "reasons")
	fails(t, "called valid", judgeBrokerStarved(of(""), of("", named)), "verdict")
	fails(t, "named without cause", judgeBrokerStarved(of("50", named), of("50", named)), "reasons")
}

package stats

import "math"

// Encounter is the share of users, in [0, 1], who get at least one response worse than
// a percentile in a number of responses each. It depends on how the slow responses are
// distributed over the users, which a percentile does not say.
type Encounter struct {
	// Clustered is the share if the slow responses are all responses of the same users:
	// 1−p. No distribution over the users gives less.
	Clustered float64
	// Independent is the share if each response is slow independently of the others:
	// 1 − p^n.
	Independent float64
	// Most is the share if no user gets two slow responses: min(1, n·(1−p)), the
	// union bound. No distribution over the users gives more.
	Most float64
}

// Meet returns the share of users who get at least one response worse than a percentile,
// with that many responses each. worse is the share of responses that are worse, 1−p, in
// [0, 1]: 0.01 for p99; it is the parameter instead of p so that p99.99999 loses no
// digits. responses is at least 1 and may be fractional. For other arguments the result
// is NaN.
//
// Slow responses come in bursts, so the real share is between Clustered and Independent,
// unless something spreads slow responses evenly over the users.
func Meet(worse, responses float64) Encounter {
	if !(worse >= 0 && worse <= 1) || !(responses >= 1) || math.IsInf(responses, 0) {
		return Encounter{math.NaN(), math.NaN(), math.NaN()}
	}
	return Encounter{
		Clustered:   worse,
		Independent: -math.Expm1(responses * math.Log1p(-worse)),
		Most:        math.Min(1, responses*worse),
	}
}

// Allowed is the inverse of [Meet] for independent responses: the share of responses
// that may be worse than a limit if the given share of users, in (0, 1), shall get none
// of them: 1 − users^(1/n). The percentile that must keep the limit is 1 minus that.
// responses is at least 1. For other arguments the result is NaN. If slow responses
// cluster, up to 1−users may be slow.
func Allowed(users, responses float64) float64 {
	if !(users > 0 && users < 1) || !(responses >= 1) || math.IsInf(responses, 0) {
		return math.NaN()
	}
	return -math.Expm1(math.Log(users) / responses)
}

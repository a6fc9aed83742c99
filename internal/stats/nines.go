package stats

import "math"

// Encounter is the share of users who, in a number of responses each, meet at
// least one of those that are worse than a percentile, in [0, 1]. What it is
// depends on how the slow responses fall, which a percentile does not say.
type Encounter struct {
	// Clustered is the share if all slow responses come together and hit the
	// same users with everything: 1−p. No way to fall gives less.
	Clustered float64
	// Independent is the share if each response is slow by a chance of its own:
	// 1 − p^n.
	Independent float64
	// Most is the share if no user meets two slow responses: min(1, n·(1−p)),
	// the union bound. No way to fall gives more.
	Most float64
}

// Meet returns the share of users who meet at least one response worse than a
// percentile, with that many responses each. worse is the share of responses that
// are worse, 1−p, in [0, 1]: 0.01 for p99; it is asked for instead of p so that
// p99.99999 loses no digits. responses is at least 1 and need not be whole.
// Outside of these the result is NaN.
//
// Real slowness comes in bursts, so the truth lies between Clustered and
// Independent, unless something spreads slow responses evenly over the users.
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

// Allowed is the inverse of [Meet] for independent responses: the share of
// responses that may be worse than a limit for the given share of users, in (0,
// 1), to meet none of them: 1 − users^(1/n). The percentile that must keep the
// limit is 1 minus that. responses is at least 1; outside of these the result is
// NaN. If slow responses cluster, up to 1−users may be slow.
func Allowed(users, responses float64) float64 {
	if !(users > 0 && users < 1) || !(responses >= 1) || math.IsInf(responses, 0) {
		return math.NaN()
	}
	return -math.Expm1(math.Log(users) / responses)
}

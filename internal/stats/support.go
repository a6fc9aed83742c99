package stats

// Support says what a sample allows to state about a quantile.
type Support int

const (
	// NotSupported: too few values for any finite upper bound. Print how many are
	// needed, not a figure.
	NotSupported Support = iota
	// Few: a value with a wide interval. Print both, and mark the value.
	Few
	// Full: at least a hundred values lie beyond.
	Full
)

// fullExceedances is the number of values beyond a quantile from which on its
// figure is printed unmarked: their count then has a relative error of 10 %.
const fullExceedances = 100

// supportConfidence is the confidence level of the interval that a supported quantile has.
const supportConfidence = 0.95

// SupportOf returns what n independent values allow to say about the quantile
// p. Fewer than [MinSamples] at 95 %: NotSupported. Fewer than a hundred values
// beyond the quantile, which are floor(n·(1-p)): Few. Else Full.
//
// MinSamples leaves some 3.7 values beyond the quantile, so a sample may satisfy "at
// least MinSamples" but not "at least 4 exceedances". It counts as Few: its interval is
// finite, as promised to the reader, and a second threshold 8 % higher would only
// confuse. Below the median the values below the quantile are counted.
func SupportOf(n int64, p float64) Support {
	if n < MinSamples(p, supportConfidence) {
		return NotSupported
	}
	if Exceedances(n, p) < fullExceedances {
		return Few
	}
	return Full
}

// Exceedances returns how many of n values lie beyond the nearest rank of the quantile
// p in (0, 1), on the side with fewer values: floor(n·(1-p)) from the median up,
// floor(n·p) below it. p stands for its shortest decimal, so 0.9999 of a million leaves
// 100, not 99. The result is 0 for other p.
func Exceedances(n int64, p float64) int64 {
	if n <= 0 || !(p > 0 && p < 1) {
		return 0
	}
	if p < 0.5 {
		below, _ := shareOf(n, p, 1)
		return below
	}
	return n - ceilShare(n, p, 1)
}

// String returns "not supported", "few" or "full".
func (s Support) String() string {
	switch s {
	case NotSupported:
		return "not supported"
	case Few:
		return "few"
	case Full:
		return "full"
	}
	return "unknown support"
}

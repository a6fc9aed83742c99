package stats

// Support says how much of a statement a sample allows about a quantile.
type Support int

const (
	// NotSupported: too few values for any finite upper bound. Print how many
	// it would take, not a number.
	NotSupported Support = iota
	// Few: a value with a wide interval. Print both, and mark the value.
	Few
	// Full: at least a hundred values lie beyond.
	Full
)

// fullExceedances is the number of values beyond a quantile from which on it is
// printed unmarked: their count then has a relative error of a tenth.
const fullExceedances = 100

// supportConfidence is that of the interval which a supported quantile has.
const supportConfidence = 0.95

// SupportOf returns what n independent values allow to say about the quantile
// p. Fewer than [MinSamples] at 95 %: NotSupported. Fewer than a hundred values
// beyond the quantile, which are floor(n·(1-p)): Few. Else Full.
//
// MinSamples leaves some 3.7 values beyond the quantile, so from there to four
// of them a sample is between the rules "at least MinSamples" and "at least 4
// exceedances". It counts as Few: the interval is finite, which is what the
// reader is promised, and two thresholds that differ by a twelfth would not be
// understood. Below the median the values below the quantile are counted.
func SupportOf(n int64, p float64) Support {
	if n < MinSamples(p, supportConfidence) {
		return NotSupported
	}
	if Exceedances(n, p) < fullExceedances {
		return Few
	}
	return Full
}

// Exceedances returns how many of n values lie beyond the nearest rank of the
// quantile p in (0, 1), on the scarce side: floor(n·(1-p)) from the median up,
// floor(n·p) below it. p is meant as the decimal it is written as, so 0.9999 of
// a million leaves 100, not 99.
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

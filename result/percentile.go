package result

import "strconv"

// Percentile names a percentile as files and users write it: "50", "99.9"; or [Maximum].
// [Distribution.At] says whether a distribution has it.
type Percentile string

// The percentiles that summaries publish.
const (
	P50     Percentile = "50"
	P75     Percentile = "75"
	P90     Percentile = "90"
	P95     Percentile = "95"
	P99     Percentile = "99"
	P999    Percentile = "99.9"
	P9999   Percentile = "99.99"
	P99999  Percentile = "99.999"
	P999999 Percentile = "99.9999"
)

// Number returns the percentile as a number, 0 to 100; false for [Maximum], and for what is no
// percentile.
func (p Percentile) Number() (float64, bool) {
	v, err := strconv.ParseFloat(string(p), 64)
	return v, err == nil && v >= 0 && v <= 100
}

// Maximum is the name of the largest value among the percentiles.
const Maximum Percentile = "max"

// Percentiles returns the percentiles that summaries publish, in ascending order.
func Percentiles() []Percentile {
	return []Percentile{P50, P75, P90, P95, P99, P999, P9999, P99999, P999999}
}

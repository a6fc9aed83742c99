package report

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"

	"sixnines/result"
)

// floorFactor is how many times the noise floor a percentile must be to describe the
// broker rather than the machine.
const floorFactor = 3

// floorText says what noise floor the run has, in one line.
func floorText(h *result.Header) string {
	f := h.Floor
	if f == nil {
		return "no noise floor measured on this machine: sixnines selftest --only floor"
	}
	text := "noise floor: a broker that does nothing, on this machine"
	if !f.At.IsZero() {
		text += ", measured " + f.At.UTC().Format("2006-01-02 15:04 UTC")
	}
	if t := joinNonEmpty(" ", plain(f.Tool.Name), plain(f.Tool.Version)); t != "" {
		text += " by " + t
	}
	text += " (" + joinNonEmpty(", ", plain(f.Pattern), rate(f.Rate)+" × "+size(f.Size))
	if id := plain(f.ID); id != "" {
		text += ", run " + id
	}
	return text + "); percentiles below " + strconv.Itoa(floorFactor) + " times this floor are marked, because they say as much about the machine as about the broker"
}

// floorTexts says of several runs what noise floor they have, each floor once
// and nothing of runs without latencies.
func floorTexts(prepared []*subject) []string {
	var out []string
	for _, s := range prepared {
		if s.measuredMetric() == "" {
			continue
		}
		out = appendNew(out, sentence(floorText(&s.run.Header)))
	}
	return out
}

// sentence gives a line of text a capital and a full stop.
func sentence(text string) string {
	if text == "" {
		return ""
	}
	return strings.ToUpper(text[:1]) + text[1:] + "."
}

// floorCurve returns the noise floor of a metric by percentile; without points if the
// floor does not have the metric.
func floorCurve(f *result.Floor, m result.Metric) line {
	var l line
	if f == nil {
		return l
	}
	type point struct{ at, y float64 }
	var points []point
	for name, v := range f.Percentiles[m] {
		worse := worseThan(name)
		if !(worse > 0 && worse < 1) || v <= 0 {
			continue // the maximum has no coordinate on this axis
		}
		points = append(points, point{-math.Log10(worse), logOf(v)})
	}
	slices.SortFunc(points, func(a, b point) int { return cmp.Compare(a.at, b.at) })
	for _, p := range points {
		l.X, l.Y = append(l.X, p.at), append(l.Y, p.y)
	}
	l.Name, l.Colour, l.Dash = "noise floor", 7, 2
	return l
}

// floorCurves are the floors of the runs, each once: repeats share theirs.
func floorCurves(subjects []*subject, f family) []line {
	var out []line
	var seen []string
	for _, s := range subjects {
		h := &s.run.Header
		if h.Floor == nil || slices.Contains(seen, h.Floor.ID) {
			continue
		}
		l := floorCurve(h.Floor, firstOf(s, f))
		if len(l.X) == 0 {
			continue
		}
		if len(seen) > 0 {
			l = l.of(s, l.Name)
		}
		seen = append(seen, h.Floor.ID)
		out = append(out, l)
	}
	return out
}

// timesFloor writes how many times the floor a percentile is.
func timesFloor(ratio float64) string {
	switch {
	case math.IsNaN(ratio):
		return ""
	case ratio < 10:
		// Rounded down: a ratio below 3 must not be printed as 3.
		return strconv.FormatFloat(math.Floor(ratio*10)/10, 'f', 1, 64) + " ×"
	}
	return grouped(strconv.FormatFloat(ratio, 'f', 0, 64)) + " ×"
}

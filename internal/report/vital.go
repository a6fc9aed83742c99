package report

import (
	"maps"
	"math"
	"slices"
	"strconv"

	"sixnines/result"
)

// vitalText writes a vital in its unit.
func vitalText(x float64, unit result.Unit) string {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return "n/a"
	}
	switch unit {
	case result.UnitSeconds:
		return durationFloat(x * 1e9)
	case result.UnitNanos:
		return durationFloat(x)
	case result.UnitBytes:
		return size(int64(x))
	case result.UnitShare:
		return share(x)
	case result.UnitCount:
		if x == math.Trunc(x) && math.Abs(x) < 1e15 {
			return count(int64(x))
		}
	}
	return strconv.FormatFloat(x, 'g', 4, 64)
}

// vitalRows gives the least, the median and the largest value of each vital
// over the intervals of the measured window.
func vitalRows(r *result.Run) []row {
	values := map[result.Vital][]float64{}
	for _, p := range r.Series {
		if p.Phase == result.PhaseMeasure {
			for k, v := range p.Vitals {
				values[k] = append(values[k], v)
			}
		}
	}
	var out []row
	add := func(v result.Vital) {
		x, known := values[v], v.Properties()
		slices.Sort(x)
		text := func(x float64) string { return vitalText(x, known.Unit) }
		// The median is a value that was seen: the lower of two in the middle.
		out = append(out, row{Cells: textCells(plain(string(v)), text(x[0]), text(x[(len(x)-1)/2]), text(x[len(x)-1]), plain(known.Meaning))})
		delete(values, v)
	}
	for _, v := range result.Vitals() {
		if len(values[v.Vital]) > 0 {
			add(v.Vital)
		}
	}
	for _, v := range slices.Sorted(maps.Keys(values)) {
		add(v)
	}
	return out
}

// brokerUse says what the broker's processes have used in the measured window,
// where that was watched.
func brokerUse(r *result.Run) []string {
	var cpu, written, length float64
	var rss float64
	watched := false
	for _, p := range r.Series {
		if p.Phase != result.PhaseMeasure {
			continue
		}
		if x, ok := p.Vitals[result.VitalBrokerCPU]; ok {
			cpu += x
			length += float64(p.End-p.Start) / 1e9
			watched = true
		}
		written += p.Vitals[result.VitalBrokerWriteBytes]
		rss = max(rss, p.Vitals[result.VitalBrokerRSS])
	}
	if !watched || length <= 0 {
		return nil
	}
	out := []string{share(cpu/length) + " of one core"}
	if rss > 0 {
		out = append(out, size(int64(rss))+" of memory")
	}
	if written > 0 {
		out = append(out, size(int64(written/length))+"/s written to storage")
	}
	return out
}

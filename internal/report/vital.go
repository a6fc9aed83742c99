package report

import (
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"sixnines/result"
)

// vitalText writes a vital in its unit.
func vitalText(x float64, unit string) string {
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
	values := map[string][]float64{}
	for _, p := range r.Series {
		if p.Phase == result.PhaseMeasure {
			for k, v := range p.Vitals {
				values[k] = append(values[k], v)
			}
		}
	}
	var out []row
	add := func(v result.Vital) {
		x := values[v.Name]
		slices.Sort(x)
		text := func(x float64) string { return vitalText(x, v.Unit) }
		// The median is a value that was seen: the lower of two in the middle.
		out = append(out, row{Cells: textCells(plain(v.Name), text(x[0]), text(x[(len(x)-1)/2]), text(x[len(x)-1]), v.Meaning)})
		delete(values, v.Name)
	}
	for _, v := range result.Vitals() {
		if len(values[v.Name]) > 0 {
			add(v)
		}
	}
	for _, k := range slices.Sorted(maps.Keys(values)) {
		v := result.Vital{Name: k}
		if process, what := brokerProcess(k); process != "" {
			v.Unit = map[string]string{"cpu": result.UnitSeconds, "rss": result.UnitBytes, "read_bytes": result.UnitBytes, "write_bytes": result.UnitBytes}[what]
			v.Meaning = "of " + plain(process) + " alone"
		}
		add(v)
	}
	return out
}

// brokerProcess splits the name of a vital of one of several of the broker's
// processes, such as broker.kafka-2.cpu; empty for others.
func brokerProcess(name string) (process, what string) {
	rest, ok := strings.CutPrefix(name, "broker.")
	i := strings.LastIndexByte(rest, '.')
	if !ok || i < 0 {
		return "", ""
	}
	return rest[:i], rest[i+1:]
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
		if x, ok := p.Vitals["broker.cpu"]; ok {
			cpu += x
			length += float64(p.End-p.Start) / 1e9
			watched = true
		}
		written += p.Vitals["broker.write_bytes"]
		rss = max(rss, p.Vitals["broker.rss"])
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

package judge

import (
	"fmt"
	"strings"

	"sixnines/internal/spell"
	"sixnines/result"
)

// floorMatters is how many times the noise floor a percentile must be to describe
// the broker rather than the machine.
const floorMatters = 3

// setFloor sets the ratios of a distribution's percentiles to those of the noise floor.
func setFloor(d *result.Distribution, m result.Metric, f *result.Floor) {
	if f == nil {
		return
	}
	for name, x := range d.All() {
		if floor := f.Percentiles[m][name]; floor > 0 {
			ratio := float64(x.Value) / float64(floor)
			x.FloorRatio = &ratio
			d.Figures[name] = x
		}
	}
}

// nearFloor: percentiles below floorMatters times those of the null broker on this
// machine. This is a note, one for each metric: the figures are what a user of this
// machine sees, but comparing brokers by them compares the machine with itself.
func nearFloor(e *evidence) (found []result.Reason) {
	for _, m := range e.responses() {
		d := e.summary.Histograms[m]
		var low []string
		for name, f := range d.All() {
			if r := f.FloorRatio; r != nil && *r < floorMatters {
				low = append(low, fmt.Sprintf("p%s %.2g times", name, *r))
			}
		}
		if len(low) == 0 {
			continue
		}
		f := e.run.Header.Floor
		found = append(found, result.Reason{Status: result.Valid, Code: result.ReasonFloor, Metric: m, Found: fmt.Sprintf(
			"%s is less than %d times the noise floor of this machine (%s), measured with a broker that does nothing, at %s with messages of %s",
			m, floorMatters, strings.Join(low, ", "), spell.Rate(f.Rate), spell.Size(f.Size)),
			Means: "these percentiles say as much about this machine as about the broker"})
	}
	return found
}

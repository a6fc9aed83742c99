package result

// distributionForm is the JSON form of a Distribution.
type distributionForm struct {
	Count    int64 `json:"count"`
	Censored int64 `json:"censored,omitempty"`
	// Refusals are the messages that the client or the broker refused: slower
	// than every value. Results of earlier versions leave them out.
	Refusals int64 `json:"refusals,omitempty"`
	// Min, Mean and StdDev are of Count, and absent without values.
	Min         *int64                  `json:"min,omitempty"`
	Max         int64                   `json:"max"`
	Mean        *float64                `json:"mean,omitempty"`
	StdDev      *float64                `json:"stddev,omitempty"`
	Percentiles map[Percentile]int64    `json:"percentiles"`
	Intervals   map[Percentile][2]int64 `json:"intervals"` // 95 %, exact binomial
	// Sequential names the percentile whose interval holds at whatever moment the
	// run ended, see Until; those of others are for a length fixed before the run.
	Sequential map[Percentile]bool `json:"sequential,omitempty"`
	// Unsupported percentiles are not printed as numbers: the samples needed.
	Unsupported map[Percentile]int64 `json:"unsupported,omitempty"`
	// AtLeast names percentiles, and "max", whose figure is a lower bound,
	// because unresolved messages reach it: print "≥".
	AtLeast map[Percentile]bool `json:"at_least,omitempty"`
	// Open names percentiles whose interval has no upper end, because unresolved
	// or refused messages reach it: the second number of the interval is a lower
	// bound.
	Open map[Percentile]bool `json:"open,omitempty"`
	// Refused names percentiles, and "max", that refused messages reach: print
	// "refused". Their figure is a lower bound, and in AtLeast too.
	Refused map[Percentile]bool `json:"refused,omitempty"`
	// OpenRefused names those of Open that it is refused messages that reach: print
	// "refused" for the upper end. A percentile that is refused from end to end has
	// no interval.
	OpenRefused map[Percentile]bool `json:"open_refused,omitempty"`
	// Succeeded is the same of the messages that were not refused; nil where none
	// was.
	Succeeded *Distribution `json:"succeeded,omitempty"`
	// Corrected is the distribution with what HdrHistogram's correction for the
	// expected interval of Header.Synchronous adds to it, for comparison with tools
	// that publish such figures; nil for other metrics. Unresolved and refused messages
	// are not in it, it has no intervals, and no verdict or objective looks at it.
	Corrected *Distribution `json:"corrected,omitempty"`
	// Few names percentiles that rest on 4 to 99 exceedances: print "~".
	Few map[Percentile]bool `json:"few,omitempty"`
	// Episodes counts, from p99 up, the separate events behind the
	// exceedances. Below 4 the percentile describes this run, not the system.
	Episodes map[Percentile]int `json:"episodes,omitempty"`
	// Blocks are 95 % intervals of tails from resampling stretches of the run
	// instead of messages, so that what comes in bursts counts as bursts. For
	// percentiles from 99 up; one that is absent has its reason in BlocksNA.
	Blocks   map[Percentile][2]int64 `json:"blocks,omitempty"`
	BlocksNA map[Percentile]string   `json:"blocks_na,omitempty"`
	// FloorRatio is, where Header.Floor has the percentile, how many times the
	// floor's it is. Below 3 it is as much about the machine as about the broker.
	FloorRatio map[Percentile]float64 `json:"floor_ratio,omitempty"`
	// OwnShare is the share of the percentile that is the generator's own lag.
	OwnShare map[Percentile]float64 `json:"own_share,omitempty"`
	// ReceiveShare is the share of the percentile for which what ended it had lain
	// in this machine before it was read, where that is known.
	ReceiveShare map[Percentile]float64 `json:"receive_share,omitempty"`
	// Samples is the number of messages behind Count (a message delivered to
	// a thousand consumers is one sample).
	Samples int64 `json:"samples"`
}

// formOf returns the JSON form. Minimum, mean and standard deviation of no values are left
// out: a 0 would look like a measured value.
func formOf(d *Distribution) distributionForm {
	x := distributionForm{Count: d.Count, Censored: d.Censored, Refusals: d.Refusals, Max: d.Max, Samples: d.Samples,
		Succeeded: d.Succeeded, Corrected: d.Corrected}
	if d.Figures != nil {
		x.Percentiles, x.Intervals = map[Percentile]int64{}, map[Percentile][2]int64{}
	}
	if d.Count > 0 {
		x.Min, x.Mean, x.StdDev = &d.Min, &d.Mean, &d.StdDev
	}
	put(&x.AtLeast, Maximum, d.MaxAtLeast)
	put(&x.Refused, Maximum, d.MaxRefused)
	for name, f := range d.Figures {
		if f.Needs == 0 || f.Value != 0 {
			x.Percentiles[name] = f.Value
		}
		put(&x.Unsupported, name, f.Needs)
		put(&x.AtLeast, name, f.AtLeast)
		put(&x.Refused, name, f.Refused)
		put(&x.Few, name, f.Few)
		if i := f.Interval; i != nil {
			x.Intervals[name] = [2]int64{i.Low, i.High}
			put(&x.Open, name, i.Open)
			put(&x.OpenRefused, name, i.OpenRefused)
			put(&x.Sequential, name, i.Sequential)
		}
		if f.Blocks != nil {
			putKnown(&x.Blocks, name, &[2]int64{f.Blocks.Low, f.Blocks.High})
		}
		put(&x.BlocksNA, name, f.BlocksNA)
		put(&x.Episodes, name, f.Episodes)
		putKnown(&x.FloorRatio, name, f.FloorRatio)
		putKnown(&x.OwnShare, name, f.OwnShare)
		putKnown(&x.ReceiveShare, name, f.ReceiveShare)
	}
	return x
}

// put adds a value to a map unless it is zero; empty maps are left out of the file.
func put[V comparable](m *map[Percentile]V, name Percentile, v V) {
	if v != *new(V) {
		putKnown(m, name, &v)
	}
}

// putKnown adds a value to a map, zero too, unless it is unknown.
func putKnown[V any](m *map[Percentile]V, name Percentile, v *V) {
	if v == nil {
		return
	}
	if *m == nil {
		*m = map[Percentile]V{}
	}
	(*m)[name] = *v
}

// distribution returns what the form says.
func (x *distributionForm) distribution() Distribution {
	d := Distribution{Count: x.Count, Censored: x.Censored, Refusals: x.Refusals, Max: x.Max, Samples: x.Samples,
		Succeeded: x.Succeeded, Corrected: x.Corrected, MaxAtLeast: x.AtLeast[Maximum], MaxRefused: x.Refused[Maximum], Figures: map[Percentile]Figure{}}
	if x.Min != nil {
		d.Min = *x.Min
	}
	if x.Mean != nil {
		d.Mean = *x.Mean
	}
	if x.StdDev != nil {
		d.StdDev = *x.StdDev
	}
	delete(x.AtLeast, Maximum)
	delete(x.Refused, Maximum)
	each(&d, x.Percentiles, func(f *Figure, v int64) { f.Value = v })
	each(&d, x.Unsupported, func(f *Figure, v int64) { f.Needs = v })
	each(&d, x.AtLeast, func(f *Figure, v bool) { f.AtLeast = v })
	each(&d, x.Refused, func(f *Figure, v bool) { f.Refused = v })
	each(&d, x.Few, func(f *Figure, v bool) { f.Few = v })
	each(&d, x.Intervals, func(f *Figure, v [2]int64) { f.Interval = &Bounds{Low: v[0], High: v[1]} })
	each(&d, x.Open, func(f *Figure, v bool) { f.interval().Open = v })
	each(&d, x.OpenRefused, func(f *Figure, v bool) { f.interval().OpenRefused = v })
	each(&d, x.Sequential, func(f *Figure, v bool) { f.interval().Sequential = v })
	each(&d, x.Blocks, func(f *Figure, v [2]int64) { f.Blocks = &Bounds{Low: v[0], High: v[1]} })
	each(&d, x.BlocksNA, func(f *Figure, v string) { f.BlocksNA = v })
	each(&d, x.Episodes, func(f *Figure, v int) { f.Episodes = v })
	each(&d, x.FloorRatio, func(f *Figure, v float64) { f.FloorRatio = &v })
	each(&d, x.OwnShare, func(f *Figure, v float64) { f.OwnShare = &v })
	each(&d, x.ReceiveShare, func(f *Figure, v float64) { f.ReceiveShare = &v })
	return d
}

// each sets a property of the figures that a map names.
func each[V any](d *Distribution, m map[Percentile]V, set func(*Figure, V)) {
	for name, v := range m {
		d.Update(name, func(f *Figure) { set(f, v) })
	}
}

// interval returns the interval to set a property of.
func (f *Figure) interval() *Bounds {
	if f.Interval == nil {
		f.Interval = new(Bounds)
	}
	return f.Interval
}

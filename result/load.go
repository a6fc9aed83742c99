package result

import (
	"errors"
	"fmt"
	"io"
	"os"
	"sixnines/internal/histograms"
)

// Limits of the memory that a result file can make a reader allocate beyond the file's own
// size. Honest files stay far below; a hostile one is refused before anything is allocated.
const (
	maxMetrics = 32      // an honest file has fewer than a dozen
	maxSlots   = 8 << 20 // nine days of 100-ms slots
	maxDigits  = 3       // significant digits, as scenarios allow
	maxTail    = 4096    // slowest messages: a hundred for each metric
)

// Load reads the result file at path, plain or gzipped, and merges its
// intervals. Each interval's histograms are dropped as soon as they are merged,
// so that a run takes memory for its metrics and its points, not for its
// histograms over time.
//
// The file of a killed run is not an error: its Run has no Summary, and Damaged
// describes a line that was cut off. A file that is not a result file, or was
// written by a newer version, gives an error that wraps [ErrFormat]; if only a line after its
// header cannot be read, the error wraps [ErrDamaged] too.
func Load(path string) (*Run, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("load result: %w", err)
	}
	defer f.Close() // read only: nothing to lose
	run, err := ReadRun(f)
	if err != nil {
		return nil, fmt.Errorf("load result %s: %w", path, err)
	}
	run.SetPath(path)
	return run, nil
}

// ReadRun is [Load] from a stream.
func ReadRun(r io.Reader) (*Run, error) {
	reader := NewReader(r)
	run := &Run{Metrics: map[Metric]*Merged{}}
	for {
		record, err := reader.Next()
		if errors.Is(err, io.EOF) {
			run.Damaged = reader.Damage()
			for _, p := range run.Workloads {
				p.Damaged = run.Damaged
			}
			return run, nil
		}
		if err == nil {
			err = run.Add(record)
			if err != nil {
				err = fmt.Errorf("line %d: %w", reader.Line(), err)
			}
		}
		if err != nil {
			if reader.header && errors.Is(err, ErrFormat) {
				err = fmt.Errorf("%w: %w", ErrDamaged, err)
			}
			return nil, err
		}
	}
}

// Add merges one record into the run, which must have been made by ReadRun or
// have a Metrics map. A caller can use it to follow a run while it is being
// written. After an error the run holds a part of the record. Add is not safe for
// concurrent use.
func (r *Run) Add(record Record) error {
	if r.Summary != nil && (record.Header != nil || record.Interval != nil || record.Summary != nil) {
		return fmt.Errorf("a record after the summary: %w", ErrFormat)
	}
	switch {
	case record.Header != nil && (record.Header.Workload != "" || len(r.Workloads) > 0):
		return r.addWorkload(*record.Header)
	case len(r.Workloads) > 0:
		return r.addPart(record)
	case record.Header != nil:
		r.Header = *record.Header
	case record.Interval != nil:
		return r.addInterval(record.Interval)
	case record.Event != nil:
		r.Events = append(r.Events, *record.Event)
	case record.Summary != nil:
		r.Summary, r.Counted = record.Summary, record.Counted
	}
	return nil
}

func (r *Run) addInterval(v *Interval) error {
	point := Point{
		Phase: v.Phase, Start: v.Start, End: v.End, Counters: v.Counters,
		InFlight: v.InFlight, Backlog: v.Backlog, Vitals: v.Vitals, Levels: v.Levels, Depth: v.Depth, Readings: v.Readings,
		Metrics: make(map[Metric]PointMetric, len(v.Metrics)),
	}
	at := v.Start
	for _, l := range v.Levels {
		if l.At <= at || l.At > v.End {
			return fmt.Errorf("levels of an interval that are not in order of time: %w", ErrFormat)
		}
		at = l.At
	}
	at = v.Start
	for _, k := range v.Readings {
		if k.At < at || k.At > v.End {
			return fmt.Errorf("readings of an interval that are not in order of time: %w", ErrFormat)
		}
		at = k.At
	}
	if r.inflater == nil {
		r.inflater = new(histograms.Decoder)
	}
	shares := make(map[Metric]values, len(v.Metrics))
	for name, m := range v.Metrics {
		if m == nil {
			continue
		}
		merged := r.Metrics[name]
		if merged == nil {
			if len(r.Metrics) == maxMetrics {
				return fmt.Errorf("more than %d metrics: %w", maxMetrics, ErrFormat)
			}
			merged = new(Merged)
			r.Metrics[name] = merged
		}
		slots := int64(0)
		if name.IsResponse() {
			slots = r.Header.slots()
		}
		v, err := merged.add(m, slots, r.inflater, func(v values) { r.look(name, m, v, merged) })
		if err == nil {
			err = merged.addUnanswered(m.Unanswered, slots)
		}
		if err == nil {
			err = merged.addRefused(m.Refused, r.Header.slots(), slots)
		}
		if err != nil {
			return fmt.Errorf("metric %q: %w", name, err)
		}
		if v.index.Count() > 0 {
			point.Metrics[name] = pointOf(v.index, v.min, v.max)
			shares[name] = v
		}
	}
	r.Counters.Add(v.Counters)
	r.Connections = r.Connections.Plus(v.Connections)
	r.Pauses = append(r.Pauses, v.Pauses...)
	if len(r.Tail)+len(v.Tail) > maxTail {
		return fmt.Errorf("more than %d slowest messages: %w", maxTail, ErrFormat)
	}
	r.Tail = append(r.Tail, v.Tail...)
	for _, s := range v.Lost {
		if s[0] < 0 || s[0] >= r.Header.slots() || s[1] < 0 || int64(len(r.Lost)) >= r.Header.slots() {
			return fmt.Errorf("%d lost messages in slot %d: %w", s[1], s[0], ErrFormat)
		}
		r.Lost = append(r.Lost, s)
	}
	if v.ReadBack != nil {
		r.ReadBack = v.ReadBack
	}
	if v.Closing != nil {
		r.Closing = v.Closing
	}
	r.Series = append(r.Series, point)
	r.addBlocks(v.Phase, shares)
	r.addDue(&point, shares)
	return nil
}

// values is one metric of one interval, decoded.
type values struct {
	index    *histograms.RankIndex
	min, max int64 // exact
	own      []OwnBand
}

// pointOf reduces a histogram to its figures. It limits percentiles to high, the exact
// maximum, since a bucket's upper edge may exceed the largest value in it.
func pointOf(index *histograms.RankIndex, low, high int64) PointMetric {
	at := func(percent float64) int64 { return min(index.Percentile(percent), high) }
	return PointMetric{Count: index.Count(), Min: low, Max: high, P50: at(50), P90: at(90), P99: at(99), P999: at(99.9)}
}

// slots returns how many slots of intended time the window may have. The slot that
// begins at the window's end is allowed, though no message is due in it.
func (h *Header) slots() int64 {
	if h.Slot <= 0 || h.Window <= 0 {
		return maxSlots
	}
	return min(int64(h.Window/h.Slot)+1, maxSlots)
}

// add merges one interval's share and returns its values. slots is how many slots the
// window may have, 0 for metrics without slots. add calls look with the values after it
// has merged their histogram and before it merges the rest.
func (x *Merged) add(m *MetricInterval, slots int64, z *histograms.Decoder, look func(values)) (values, error) {
	v, err := x.addValues(m, z)
	if err != nil {
		return values{}, err
	}
	look(v)
	if m.Censored != "" {
		c, err := x.decode(m.Censored, z)
		if err == nil {
			err = mergeInto(&x.Censored, c)
		}
		if err != nil {
			return values{}, fmt.Errorf("censored: %w", err)
		}
	}
	if err := x.addSlots(m.Slots, slots); err != nil {
		return values{}, err
	}
	if len(m.Own) > 0 && x.Own == nil {
		x.Own = make([]OwnBand, histograms.Bands)
		for i := range x.Own {
			x.Own[i].Band = i
		}
	}
	for _, o := range m.Own {
		if o.Band < 0 || o.Band >= histograms.Bands {
			return values{}, fmt.Errorf("band %d is not in the %d: %w", o.Band, histograms.Bands, ErrFormat)
		}
		x.Own[o.Band].Add(o)
	}
	v.own = m.Own
	return v, nil
}

// addSlots merges the largest values of slots; slots is the allowed number of slots.
func (x *Merged) addSlots(largest [][2]int64, slots int64) error {
	for _, s := range largest {
		n, value := s[0], s[1]
		if n < 0 || n >= slots {
			return fmt.Errorf("slot %d is not among the %d it may have: %w", n, slots, ErrFormat)
		}
		if n >= int64(len(x.Slots)) {
			x.Slots = append(x.Slots, make([]int64, n+1-int64(len(x.Slots)))...)
		}
		x.Slots[n] = max(x.Slots[n], value)
	}
	return nil
}

// addUnanswered adds messages that were given up, by slot; slots is the allowed number of slots.
func (x *Merged) addUnanswered(due [][2]int64, slots int64) error {
	for i, p := range due {
		if i > 0 && (due[i-1][0] == UnknownSlot || p[0] != UnknownSlot && p[0] <= due[i-1][0]) {
			return fmt.Errorf("slots of unanswered messages that are not in order: %w", ErrFormat)
		}
		if p[0] < UnknownSlot || p[0] >= slots || p[1] < 1 || p[1] > maxRefused || int64(len(x.UnansweredAt)) > slots {
			return fmt.Errorf("%d unanswered messages in slot %d: %w", p[1], p[0], ErrFormat)
		}
		x.UnansweredAt = append(x.UnansweredAt, p)
	}
	return nil
}

// maxRefused is the largest sum of refused messages; no honest file comes near it.
const maxRefused = 1 << 53

// addRefused adds refused messages; slots is the allowed number of slots. known equals
// slots for metrics that have largest values of slots, else it is 0.
func (x *Merged) addRefused(refused [][2]int64, slots, known int64) error {
	var due [][2]int64
	for _, p := range refused {
		slot, n := p[0], p[1]
		if slot < UnknownSlot || slot >= slots || n < 1 || n > maxRefused || x.Refused+n > maxRefused || int64(len(x.RefusedAt)) > slots {
			return fmt.Errorf("%d refused messages in slot %d: %w", n, slot, ErrFormat)
		}
		x.Refused += n
		x.RefusedAt = append(x.RefusedAt, p)
		if slot != UnknownSlot && slot < known {
			due = append(due, [2]int64{slot, Refused})
		}
	}
	return x.addSlots(due, known)
}

func (x *Merged) addValues(m *MetricInterval, z *histograms.Decoder) (values, error) {
	if m.Hist == "" {
		return values{index: new(histograms.RankIndex)}, nil
	}
	c, err := x.decode(m.Hist, z)
	if err != nil {
		return values{}, err
	}
	v := values{index: c.Ranks(), min: m.Min, max: m.Max}
	if v.index.Count() > 0 {
		if x.Hist.Count() == 0 {
			x.Min, x.Max = m.Min, m.Max
		} else {
			x.Min, x.Max = min(x.Min, m.Min), max(x.Max, m.Max)
		}
	}
	return v, mergeInto(&x.Hist, c)
}

// decode decodes a histogram of a result file. It must have the same geometry as the
// histograms merged before: otherwise adding counts would move values between buckets.
func (x *Merged) decode(text string, z *histograms.Decoder) (*histograms.Counts, error) {
	c, err := z.Decode(text)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", err, ErrFormat)
	}
	if c.Digits > maxDigits {
		return nil, fmt.Errorf("%d significant digits, at most %d are written: %w", c.Digits, maxDigits, ErrFormat)
	}
	for _, o := range []*Histogram{x.Hist, x.Censored} {
		if o != nil && !c.Fits(o.counts) {
			return nil, fmt.Errorf("histogram of %s among histograms of %s, buckets cannot be added: %w", c.Layout(), histograms.Layout(o.counts), ErrFormat)
		}
	}
	return c, nil
}

// mergeInto adds counts to a histogram, which it makes if *into is nil.
func mergeInto(into **Histogram, c *histograms.Counts) error {
	if *into == nil {
		*into = new(Histogram)
	}
	if err := c.MergeInto(&(*into).counts); err != nil {
		return fmt.Errorf("%w: %w", err, ErrFormat)
	}
	return nil
}

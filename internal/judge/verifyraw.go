package judge

import (
	"errors"
	"fmt"
	"io"
	"os"

	"sixnines/internal/histograms"
	"sixnines/internal/spell"
	"sixnines/result"
)

// VerifyRaw rebuilds every metric of a run from its raw file and compares it with the
// intervals: bucket by bucket, and the exact extremes. It returns every difference, none
// if all agree, and an error if the file cannot be read as a raw file.
//
// It reads the file twice. It keeps in memory only the messages that are incomplete at a
// time in the file's order, which is about the order of the events.
func VerifyRaw(run *result.Run, path string) ([]Problem, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("verify raw file: %w", err)
	}
	defer f.Close() // read only: no write can fail here
	found, err := verifyRaw(run, f)
	if err != nil {
		return nil, fmt.Errorf("verify raw file %s: %w", path, err)
	}
	return found, nil
}

func verifyRaw(run *result.Run, f io.ReadSeeker) ([]Problem, error) {
	in := InputsOf(run).complete(run)
	groups, header, damage, err := readGroups(f, in.End)
	if err != nil {
		return nil, err
	}
	var found []Problem
	add := func(where, format string, a ...any) {
		found = append(found, Problem{where, fmt.Sprintf(format, a...)})
	}
	if header.Run != run.Header.ID {
		add("raw", "it belongs to run %s, the result to %s", header.Run, run.Header.ID)
		return found, nil
	}
	switch {
	case header.Dropped > 0:
		add("raw", "%d rows found no room in it: it is incomplete and cannot prove the figures", header.Dropped)
	case !header.Closed || damage != "" || in.CutShort:
		add("raw", "the run was cut short: rows and intervals end at different times and cannot agree")
	}
	if len(found) > 0 {
		return found, nil
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return nil, err
	}
	b := newRebuild(run, groups)
	_, _, err = eachRow(f, in.End, b.add)
	if err != nil {
		return nil, err
	}
	for _, m := range result.Metrics() {
		if x := b.metrics[m]; x != nil {
			x.compare(run.Metrics[m], func(format string, a ...any) { add("raw."+string(m), format, a...) })
		}
	}
	return found, nil
}

// eachRow calls do for every row of a message that was due in the window. Besides the header it
// returns the damage at the file's end, "" if undamaged.
func eachRow(r io.Reader, end int64, do func(result.RawRow)) (result.RawHeader, string, error) {
	reader, err := result.NewRawReader(r)
	if err != nil {
		return result.RawHeader{}, "", err
	}
	for {
		row, err := reader.Next()
		if errors.Is(err, io.EOF) {
			return reader.Header(), reader.Damage(), nil
		}
		if err != nil {
			return result.RawHeader{}, "", err
		}
		if row.Intended >= 0 && row.Intended < end {
			do(row)
		}
	}
}

// readGroups returns how many deliveries complete a message of each stream: the number of
// delivery groups of its topic. It is computed as deliveries per message sent, rounded up,
// which is right as long as fewer deliveries are missing than one group has in all.
func readGroups(r io.Reader, end int64) (map[uint32]int64, result.RawHeader, string, error) {
	sent, arrived := map[uint32]int64{}, map[uint32]int64{}
	header, damage, err := eachRow(r, end, func(row result.RawRow) {
		switch row.Kind {
		case result.RawSent:
			sent[row.Stream]++
		case result.RawReceived, result.RawCorrupted:
			arrived[row.Stream]++
		}
	})
	groups := map[uint32]int64{}
	for stream, n := range arrived {
		of := max(sent[stream], 1)
		groups[stream] = (n + of - 1) / of
	}
	return groups, header, damage, err
}

// rebuild makes the metrics of a run from rows.
type rebuild struct {
	metrics map[result.Metric]*rebuilt
	groups  map[uint32]int64
	open    map[message]delivered // messages that some groups have received, and others have not
}

type message struct {
	stream uint32
	seq    int64
}

type delivered struct {
	groups  int64
	slowest int64
}

// rebuilt is one metric made from rows.
type rebuilt struct {
	result.Merged       // only Hist and the extremes are used
	top           int64 // the largest value that Hist counts as itself, ns
}

func newRebuild(run *result.Run, groups map[uint32]int64) *rebuild {
	b := &rebuild{metrics: map[result.Metric]*rebuilt{}, groups: groups, open: map[message]delivered{}}
	for m, x := range run.Metrics {
		if m == result.DeliveryLast && run.Counters.LastUnknown > 0 {
			continue // the raw file remembers all of them
		}
		if x.Hist == nil || m.OfConnection() {
			continue // the raw file does not have the metrics of connections
		}
		r := &rebuilt{top: histograms.HighestCounted(histograms.Of(x.Hist))}
		r.Hist = result.NewHistogram(x.Hist.Layout())
		b.metrics[m] = r
	}
	return b
}

func (b *rebuild) add(r result.RawRow) {
	switch r.Kind {
	case result.RawSent:
		b.record(result.LagOwn, r.Instant)
		b.record(result.LagBlocked, r.Sent-r.Intended-r.Instant)
	case result.RawAcked:
		b.record(result.PublishResponse, r.Instant-r.Intended)
		b.record(result.PublishService, r.Instant-r.Sent)
	case result.RawReplied:
		b.record(result.RoundTripResponse, r.Instant-r.Intended)
		b.record(result.RoundTripService, r.Instant-r.Sent)
	case result.RawReceived:
		b.record(result.DeliveryResponse, r.Instant-r.Intended)
		b.record(result.DeliveryService, r.Instant-r.Sent)
		b.deliver(r)
	}
}

// deliver finds the slowest delivery of each message that all groups received.
func (b *rebuild) deliver(r result.RawRow) {
	if b.metrics[result.DeliveryLast] == nil {
		return
	}
	key := message{r.Stream, r.Seq}
	d := b.open[key]
	d.groups++
	d.slowest = max(d.slowest, r.Instant-r.Intended)
	if d.groups < b.groups[r.Stream] {
		b.open[key] = d
		return
	}
	delete(b.open, key)
	b.record(result.DeliveryLast, d.slowest)
}

// record does what the recorder does: values beyond the histogram's ends are
// recorded at the ends. Metrics that the run did not record are left out.
func (b *rebuild) record(m result.Metric, v int64) {
	x := b.metrics[m]
	if x == nil {
		return
	}
	v = min(max(v, 0), x.top)
	if x.Hist.Count() == 0 {
		x.Min, x.Max = v, v
	}
	x.Min, x.Max = min(x.Min, v), max(x.Max, v)
	_ = x.Hist.Record(v, 1) // cannot fail: v is within the histogram's range
}

// compare reports how the rebuilt metric differs from the merged one.
func (x *rebuilt) compare(m *result.Merged, add func(format string, a ...any)) {
	if got, want := x.Hist.Count(), m.Hist.Count(); got != want {
		add("the raw file yields %d values, the intervals hold %d", got, want)
	}
	// Distribution lists every bucket up to the last one in use.
	mine, theirs := histograms.Of(x.Hist).Distribution(), histograms.Of(m.Hist).Distribution()
	differ, first := 0, ""
	for i := range max(len(mine), len(theirs)) {
		var from, to, a, b int64
		if i < len(mine) {
			from, to, a = mine[i].From, mine[i].To, mine[i].Count
		}
		if i < len(theirs) {
			from, to, b = theirs[i].From, theirs[i].To, theirs[i].Count
		}
		if a == b {
			continue
		}
		if differ++; differ == 1 {
			first = fmt.Sprintf("%d to %d ns: %d from the raw file, %d in the intervals", from, to, a, b)
		}
	}
	if differ > 0 {
		add("%s with other counts, the first %s", spell.Plural(int64(differ), "bucket"), first)
	}
	if m.Hist.Count() > 0 && x.Hist.Count() > 0 && (x.Min != m.Min || x.Max != m.Max) {
		add("the raw file's extremes are %d and %d, the intervals' %d and %d", x.Min, x.Max, m.Min, m.Max)
	}
}

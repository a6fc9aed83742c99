package observe

import (
	"fmt"
	"path/filepath"
	"strings"
	"sync"

	"sixnines/internal/engine/plan"
	"sixnines/internal/rawfile"
	"sixnines/result"
)

// RawSink is one writer's access to the raw file. Acknowledgements of one lane
// may come from several goroutines, hence the lock: it is uncontended nearly
// always, and only runs with a raw file have it.
type RawSink struct {
	mu    sync.Mutex     // guards the shard's content
	shard *rawfile.Shard // set by OpenRaw, before anything measured is sent
	plan  *plan.Plan
}

// Put writes a row: that something happened to a message at instant, which is CLOCK_MONOTONIC as
// intended and sent are, but for rows of sent messages, which have their own lag in ns there. It is
// safe for concurrent use.
func (s *RawSink) Put(kind result.RawKind, stream, consumer uint32, seq uint64, intended, sent, instant int64) {
	start := s.plan.Start.Load()
	if kind != result.RawSent {
		instant -= start
	}
	s.mu.Lock()
	s.shard.Put(result.RawRow{Kind: kind, Stream: stream, Party: consumer, Seq: int64(seq),
		Intended: intended - start, Sent: sent - start, Instant: instant})
	s.mu.Unlock()
}

// RawSink returns a sink of its own for one lane or consumer; nil: the run has no raw file. It is called
// while the load connects.
func (r *Recording) RawSink() *RawSink {
	if !r.Scenario.Record.Raw {
		return nil
	}
	s := &RawSink{plan: r.Plan}
	r.rawSinks = append(r.rawSinks, s)
	return s
}

// RawPath returns where the raw file of a result file is.
func RawPath(file string) string { return strings.TrimSuffix(file, ".jsonl") + ".raw" }

// OpenRaw reserves the raw file, a row for each event of each message that the
// schedule has, and gives each sink its shard. The window's start is known by then, and nothing measured
// is sent yet. The error wraps plan.ErrUsage where there is no result file, or the number of rows is not
// known beforehand.
func (r *Recording) OpenRaw(id string) error {
	w := r.Workload
	if r.File == "" {
		return fmt.Errorf("%w: record.raw writes a file beside the result file, and this run writes no result file", plan.ErrUsage)
	}
	var messages float64
	switch {
	case w.Messages > 0:
		messages = float64(w.Messages)
	case r.Schedule != nil:
		n, _ := r.Schedule.Total()
		messages = float64(n) * 1.01
	default:
		return fmt.Errorf("%w: with rate max or a closed loop, the number of rows in the raw file is not known beforehand; give workload.messages", plan.ErrUsage)
	}
	perMessage := 1.0 + float64(max(1, r.Layout.MaxFanOut()))
	if r.Flow.Acked {
		perMessage++
	}
	if r.Flow.Replies {
		perMessage++
	}
	sinks := len(r.Layout.Streams) + len(r.Layout.Consumers) + w.Connections.Producers
	rows := int64(messages*perMessage) + 1000 + int64(sinks)*rawfile.BlockRows
	var err error
	r.raw, err = rawfile.Create(RawPath(r.File), result.RawHeader{Run: id, Base: r.Start.Load()}, rows)
	if err != nil {
		return err
	}
	for _, s := range r.rawSinks {
		s.shard = r.raw.Shard()
	}
	ahead := 2 * r.Rate() * perMessage * r.Scenario.Record.Interval.Seconds()
	r.rawAhead = min(int64(sinks)+int64(ahead/rawfile.BlockRows)+1, mostAhead)
	r.ReadyRaw(func() {})
	return nil
}

// mostAhead bounds the blocks whose memory is touched before their first use, of 40 KiB each.
const mostAhead = 2000

// ReadyRaw makes the memory ready for the rows of the next two intervals. A row that
// comes to a fresh page waits for it otherwise, the first ones of a run for up to 2 ms,
// when all shards begin at once. between is called after each block. It belongs to the collector once
// the load has begun.
func (r *Recording) ReadyRaw(between func()) {
	for r.raw != nil && r.raw.Ready(r.rawAhead) {
		between()
	}
}

// CloseRaw cuts the raw file to what was written and returns how many rows did not fit. It is called
// when nothing writes rows any more.
func (r *Recording) CloseRaw() (dropped int64, err error) {
	if r.raw == nil {
		return 0, nil
	}
	for _, s := range r.rawSinks {
		s.shard.Close()
	}
	dropped = r.raw.Dropped()
	err = r.raw.Close()
	r.raw = nil
	return dropped, err
}

// BaseName is the raw file's name beside the result.
func BaseName(path string) string { return filepath.Base(path) }

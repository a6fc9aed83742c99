package vitals

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// The idle process only sleeps and measures how late it wakes. It has no load, no
// collector and one thread that matters, so only the machine can delay it; a gap of
// the generator's meters without a gap here is the generator's own. It is in the
// generator's control groups, though: what stops those stops it, too, see
// [result.PauseIdle].
//
// It reports each wake-up by a record of two instants, in batches, and gaps at once.
// It computes nothing else.
const (
	// idleRecord is the length of a record: when the wake-up was due and when it
	// came, CLOCK_MONOTONIC ns, both int64 in little-endian order.
	idleRecord = 16
	// idleBatch is the time that a batch covers. Shorter batches would wake the
	// generator more often.
	idleBatch = 100 * time.Millisecond
	// idleBacklog is the number of gaps that the idle process keeps while the
	// generator does not read.
	idleBacklog = 1024
)

// errIdleUsage is wrapped by errors about the idle process's arguments.
var errIdleUsage = errors.New("vitals: the idle process needs a period of 100 µs to 100 ms and a threshold no shorter than that, both in ns; only a monitor starts it")

// idleArguments returns the arguments that a monitor appends to Options.Idle.
func idleArguments(period, threshold int64) []string {
	return []string{strconv.FormatInt(period, 10), strconv.FormatInt(threshold, 10)}
}

// parseIdleArguments parses the result of idleArguments.
func parseIdleArguments(args []string) (period, threshold int64, err error) {
	if len(args) != 2 {
		return 0, 0, errIdleUsage
	}
	for i, n := range []*int64{&period, &threshold} {
		if *n, err = strconv.ParseInt(args[i], 10, 64); err != nil {
			return 0, 0, fmt.Errorf("%w: %q", errIdleUsage, args[i])
		}
	}
	if period < int64(100*time.Microsecond) || period > int64(100*time.Millisecond) || threshold < period {
		return 0, 0, fmt.Errorf("%w: %s", errIdleUsage, strings.Join(args, " "))
	}
	return period, threshold, nil
}

// idleOutbox holds the records that the idle process has not written yet. If the pipe is
// full, ordinary wake-ups are dropped and gaps are kept, up to idleBacklog: a generator
// that is paused and does not read must not block the process that measures the pause.
type idleOutbox struct {
	threshold int64
	batch     int // records that make a batch
	records   []byte
}

func newIdleOutbox(period, threshold int64) *idleOutbox {
	batch := int(max(1, int64(idleBatch)/period))
	// One record more, for the rest of one that was written in part.
	return &idleOutbox{threshold: threshold, batch: batch, records: make([]byte, 0, (idleBacklog+batch+1)*idleRecord)}
}

// add adds one wake-up and reports whether it is time to send. If the box is full it drops an
// ordinary wake-up, or for a gap the oldest record.
func (o *idleOutbox) add(due, woke int64) (full bool) {
	gap := woke-due >= o.threshold
	if len(o.records)+idleRecord > cap(o.records) {
		if !gap {
			return true
		}
		begun := len(o.records) % idleRecord // bytes of a record that is being written
		o.records = slices.Delete(o.records, begun, begun+idleRecord)
	}
	o.records = binary.LittleEndian.AppendUint64(o.records, uint64(due))
	o.records = binary.LittleEndian.AppendUint64(o.records, uint64(woke))
	return gap || len(o.records) >= o.batch*idleRecord
}

// sent removes the first n bytes, whole records or not.
func (o *idleOutbox) sent(n int) { o.records = o.records[:copy(o.records, o.records[n:])] }

// refused drops all unwritten records but the gaps, after the pipe was full. The rest of
// a record that was written in part stays, as the reader expects it.
func (o *idleOutbox) refused() {
	kept := o.records[:len(o.records)%idleRecord]
	for rest := o.records[len(kept):]; len(rest) >= idleRecord; rest = rest[idleRecord:] {
		if due, woke := idleInstants(rest); woke-due >= o.threshold {
			kept = append(kept, rest[:idleRecord]...)
		}
	}
	o.records = kept
}

// idleInstants decodes the record at the beginning of b.
func idleInstants(b []byte) (due, woke int64) {
	return int64(binary.LittleEndian.Uint64(b)), int64(binary.LittleEndian.Uint64(b[8:]))
}

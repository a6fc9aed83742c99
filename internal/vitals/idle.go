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

// The idle process only sleeps and looks whether it was woken in time.
// It has no load, no collector and one thread that matters, so what stops it is
// the machine; a gap of the generator's meters that it did not share is the
// generator's own. It is in the generator's control groups, though: what
// stops those stops it as well, see [result.PauseIdle].
//
// It reports each wake-up by a record of two instants, a batch at a time and a
// gap at once. Nothing is computed on its side.
const (
	// idleRecord is the length of a record: when the wake-up was due and when it
	// came, CLOCK_MONOTONIC ns, both int64 in little-endian order.
	idleRecord = 16
	// idleBatch is how much time a batch covers. Shorter ones would wake the
	// generator more often.
	idleBatch = 100 * time.Millisecond
	// idleBacklog is how many gaps the idle process remembers for a generator
	// that does not read.
	idleBacklog = 1024
)

// errIdleUsage is what is wrong with the arguments of the idle process.
var errIdleUsage = errors.New("vitals: the idle process needs a period of 100 µs to 100 ms and a threshold that is no shorter, both in ns; it is started by a monitor")

// idleArguments are what a monitor appends to Options.Idle.
func idleArguments(period, threshold int64) []string {
	return []string{strconv.FormatInt(period, 10), strconv.FormatInt(threshold, 10)}
}

// parseIdleArguments is the other end of idleArguments.
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

// idleOutbox has the records that the idle process has not written. Ordinary wake-ups
// that do not fit are dropped; gaps are not, until there are too many: a generator
// that is paused and does not read must not stop the process that is there to
// measure.
type idleOutbox struct {
	threshold int64
	batch     int // records that make a batch
	records   []byte
}

func newIdleOutbox(period, threshold int64) *idleOutbox {
	batch := int(max(1, int64(idleBatch)/period))
	// One record more than whole ones, for the rest of one that was written in part.
	return &idleOutbox{threshold: threshold, batch: batch, records: make([]byte, 0, (idleBacklog+batch+1)*idleRecord)}
}

// add takes one wake-up and reports whether it is time to send.
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

// refused keeps, of what was not written, the gaps. A record that was partly
// written already must be completed.
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

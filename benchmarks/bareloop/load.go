//go:build linux

package main

import (
	"fmt"
	"math/bits"
	"strings"
	"time"
)

// maxMessages bounds the arrays: 24 bytes a message, touched before the run.
const maxMessages = 100_000_000

// load describes the messages to send.
type load struct {
	url, subject     string
	rate             uint64 // messages a second
	size             int    // bytes of payload
	duration, warmup time.Duration
	writeBuffer      int // bytes; 0 is the library's default
	checksum         bool
}

func (l load) validate() error {
	switch {
	case l.rate < 1 || l.rate > 10_000_000:
		return fmt.Errorf("-rate %d: 1 to 10000000 is needed", l.rate)
	case l.size < envelopeSize:
		return fmt.Errorf("-size %d: at least %d bytes are needed", l.size, envelopeSize)
	case l.duration < time.Millisecond || l.duration > 24*time.Hour:
		return fmt.Errorf("-duration %v: 1ms to 24h is needed", l.duration)
	case l.warmup < 0 || l.warmup > 24*time.Hour:
		return fmt.Errorf("-warmup %v: 0 to 24h is needed", l.warmup)
	case l.writeBuffer < 0:
		return fmt.Errorf("-write-buffer %d: 0 or more is needed", l.writeBuffer)
	case l.subject == "" || strings.ContainsAny(l.subject, " \t\r\n*>"):
		return fmt.Errorf("-subject %q: not a subject to publish to", l.subject)
	case l.total() > maxMessages || l.total() == l.first():
		return fmt.Errorf("rate and durations give %d messages in the window, %d in all; 1 to %d are possible",
			l.total()-l.first(), l.total(), maxMessages)
	}
	return nil
}

// due is the offset of message n from the start in nanoseconds:
// ⌊n·1e9/rate⌋, exact for every n whose offset fits 63 bits.
func (l load) due(n uint64) int64 {
	high, low := bits.Mul64(n, uint64(time.Second))
	quotient, _ := bits.Div64(high, low, l.rate)
	return int64(quotient)
}

// dueBefore is the number of messages due before offset d: ⌈d·rate/1e9⌉.
func (l load) dueBefore(d time.Duration) uint64 {
	high, low := bits.Mul64(uint64(d), l.rate)
	quotient, rest := bits.Div64(high, low, uint64(time.Second))
	if rest > 0 {
		quotient++
	}
	return quotient
}

// first is the number of the window's first message.
func (l load) first() uint64 { return l.dueBefore(l.warmup) }

// total is the number of messages of warm-up and window.
func (l load) total() uint64 { return l.dueBefore(l.warmup + l.duration) }

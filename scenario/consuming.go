package scenario

import (
	"strings"
	"time"
)

// Begin is when consumers connect. Its text is a time after the start of the
// window, such as 30s, or "filled": when all producers of the load have sent what
// they were to send and have been answered. The zero value is before the load.
type Begin struct {
	After  time.Duration // above 0; 0: Filled says it
	Filled bool
}

const (
	filled    = "filled"
	beginForm = "write filled, or a time after the start of the window, such as 30s"
)

// IsZero reports whether consumers are there before the load is.
func (b Begin) IsZero() bool { return b == Begin{} }

// ParseBegin reads when consumers connect. Its errors are of type [*Error], without a
// position.
func ParseBegin(s string) (Begin, error) {
	if s == filled {
		return Begin{Filled: true}, nil
	}
	d, err := parseDuration(s)
	if err != nil || d == 0 {
		return Begin{}, wrong(quote(s)+" does not say when consumers begin", beginForm)
	}
	return Begin{After: d}, nil
}

// String returns the text that [ParseBegin] reads as b, nothing of the zero value.
func (b Begin) String() string {
	switch {
	case b.Filled:
		return filled
	case b.IsZero():
		return ""
	}
	return formatDuration(b.After)
}

// Pause is a stretch of the window in which consumers take nothing. Its text is its
// length and when it begins: 5s@20s.
type Pause struct {
	For time.Duration // above 0
	At  time.Duration // from the start of the window
}

const pauseForm = "write how long and from when, such as 5s@20s"

// IsZero reports whether there is no pause.
func (p Pause) IsZero() bool { return p == Pause{} }

// ParsePause reads a pause. Its errors are of type [*Error], without a position.
func ParsePause(s string) (Pause, error) {
	length, at, _ := strings.Cut(s, "@")
	var x Pause
	var err, wrongAt error
	x.For, err = parseDuration(strings.TrimSpace(length))
	x.At, wrongAt = parseDuration(strings.TrimSpace(at))
	if err != nil || wrongAt != nil || x.For == 0 {
		return Pause{}, wrong(quote(s)+" does not say how long consumers pause and from when", pauseForm)
	}
	return x, nil
}

// String returns the text that [ParsePause] reads as p, nothing of the zero value.
func (p Pause) String() string {
	if p.IsZero() {
		return ""
	}
	return formatDuration(p.For) + "@" + formatDuration(p.At)
}

// Interrupted reports whether consumers come late or pause, so that the broker is
// to keep messages for them.
func (c Consumer) Interrupted() bool { return !c.From.IsZero() || !c.Pause.IsZero() }

// Slow reports whether a consumer's callback takes its time, or blocks.
func (c Consumer) Slow() bool { return c.Work > 0 || !c.Pause.IsZero() }

// consuming checks when consumers begin and pause.
func (v *validator) consuming() {
	s := v.s
	w, c := &s.Workload, &s.Workload.Consumer
	if !c.Interrupted() {
		return
	}
	const from, pause = "workload.consumer.from", "workload.consumer.pause"
	key := from
	if c.From.IsZero() {
		key = pause
	}
	known := w.Messages == 0 // how long the window is
	switch {
	case c.From.After < 0 || c.Pause.For < 0 || c.Pause.At < 0 || c.From.Filled && c.From.After != 0 || !c.Pause.IsZero() && c.Pause.For == 0:
		v.fail("consumers begin or pause at a time that cannot be", beginForm, key) // made in Go
		return
	case w.Pattern != Deliver:
		v.fail("consumers that come late or pause are for the pattern deliver", "choose pattern: deliver, or leave workload."+strings.TrimPrefix(key, "workload.")+" out", key, "workload.pattern")
	case w.Loop == Closed:
		v.fail("a closed loop waits for deliveries, which do not come while consumers are away", "choose loop: open, with a rate or with rate: max", key, "workload.loop")
	case w.InFlight.Each > 0:
		v.fail("producers that wait for each answer are held up while consumers are away", "leave workload.in_flight.each out", "workload.in_flight.each", key)
	case !s.Phases.Until.IsZero():
		v.fail("the latencies of a backlog depend on its length, so that there is no percentile to wait for", "leave phases.until out", "phases.until", key)
	}
	v.refuse(!c.Pause.IsZero() && known && c.Pause.At >= s.Phases.Duration, "the pause begins at "+formatDuration(c.Pause.At)+", when the window of "+formatDuration(s.Phases.Duration)+" is over",
		"make phases.duration longer, or let it begin sooner", pause, "phases.duration")
	if c.From.IsZero() {
		return
	}
	v.refuse(known && c.From.After >= s.Phases.Duration, "consumers come after "+formatDuration(c.From.After)+", when the window of "+formatDuration(s.Phases.Duration)+" is over",
		"write from: filled, which is when it ends, or make phases.duration longer", from, "phases.duration")
	v.refuse(s.Phases.Warmup > 0, "a warm-up without consumers would be a part of their backlog", "leave phases.warmup out", "phases.warmup", from)
}

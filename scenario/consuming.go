package scenario

import (
	"strings"
	"time"
)

// Begin is when consumers connect. Its text is a time after the start of the
// window, such as 30s, or "filled": when all producers of the load have sent all
// their messages and all answers have come. The zero value is before the load.
type Begin struct {
	After  time.Duration // from the start of the window, above 0; 0: Filled decides
	Filled bool
}

const (
	filled    = "filled"
	beginForm = "write filled, or a time after the start of the window, such as 30s"
)

// IsZero reports whether consumers connect before the load begins.
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

// String returns the text that [ParseBegin] reads as b; the empty string for the zero value.
func (b Begin) String() string {
	switch {
	case b.Filled:
		return filled
	case b.IsZero():
		return ""
	}
	return formatDuration(b.After)
}

// Pause is a part of the window in which consumers take no messages. Its text is its
// length and when it begins: 5s@20s.
type Pause struct {
	For time.Duration // above 0
	At  time.Duration // from the start of the window
}

const pauseForm = "write the length and the start, such as 5s@20s"

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
		return Pause{}, wrong(quote(s)+" does not say how long consumers pause and when", pauseForm)
	}
	return x, nil
}

// String returns the text that [ParsePause] reads as p; the empty string for the zero value.
func (p Pause) String() string {
	if p.IsZero() {
		return ""
	}
	return formatDuration(p.For) + "@" + formatDuration(p.At)
}

// consuming checks Begin and Pause values that no text can give: they come from scenarios
// made in Go.
func (v *validator) consuming() bool {
	c := &v.s.Workload.Consumer
	if c.From.After >= 0 && c.Pause.For >= 0 && c.Pause.At >= 0 && !(c.From.Filled && c.From.After != 0) && (c.Pause.IsZero() || c.Pause.For > 0) {
		return true
	}
	v.fail("consumers begin or pause at an impossible time", beginForm, "workload.consumer")
	return false
}

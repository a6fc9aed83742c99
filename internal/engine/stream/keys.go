package stream

import (
	"fmt"

	"sixnines/driver"
	"sixnines/internal/engine/plan"
	"sixnines/internal/keys"
	"sixnines/scenario"
)

// streamKeys gives the messages of a stream their keys. It belongs to the goroutine that sends.
type streamKeys struct {
	Source *keys.Source                                  // writes the key with a number
	Send   func(token uint64, payload, key []byte) error // the producer's, in place of Producer.Send
}

// SetKeys makes the stream's messages have keys, if the workload asks for them. The
// stream has its producer. The error wraps driver.ErrUnsupported where that sends no keys.
func (st *Stream) SetKeys(p *plan.Plan) error {
	k := p.Workload.Keys
	if k.IsZero() {
		return nil
	}
	sender, ok := st.Producer.(driver.KeySender)
	if !ok {
		return fmt.Errorf("%w: driver %s announces keys but does not implement them", driver.ErrUnsupported, p.Entry.Name)
	}
	st.Keys = &streamKeys{Send: sender.SendKeyed, Source: keys.New(keys.Spec{Kind: keys.Kind(k.Kind), Size: int(p.Workload.KeySize),
		Space: k.Space, Skew: k.Skew, Seed: p.Seed}, uint32(st.Plan.Number))}
	return nil
}

// beforeWindow is a bit of the number of every message before the window.
const beforeWindow = 1 << 39

// KeyNumber returns the number from which the stream's next message gets its key. In
// the window it counts from the window's start, so that runs have equal keys whatever
// came before; before the window it is a number that does not occur in it.
func (st *Stream) KeyNumber() uint64 {
	if !st.Begun {
		return st.Next | beforeWindow
	}
	return st.Next - st.First
}

// HeadersOf returns the headers as drivers take them.
func HeadersOf(h scenario.Headers) []driver.Header {
	var all []driver.Header
	for _, x := range h.List() {
		all = append(all, driver.Header(x))
	}
	return all
}

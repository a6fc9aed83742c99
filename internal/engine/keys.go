package engine

import (
	"fmt"

	"sixnines/driver"
	"sixnines/internal/engine/plan"
	"sixnines/internal/keys"
	"sixnines/scenario"
)

// streamKeys gives the messages of a stream their keys.
type streamKeys struct {
	source *keys.Source
	send   func(token uint64, payload, key []byte) error
}

// setKeys makes the stream's messages have keys, if the workload asks for them. The
// stream has its producer.
func (st *stream) setKeys(p *plan.Plan) error {
	k := p.Workload.Keys
	if k.IsZero() {
		return nil
	}
	sender, ok := st.producer.(driver.KeySender)
	if !ok {
		return fmt.Errorf("%w: driver %s announces keys and does not have them", driver.ErrUnsupported, p.Entry.Name)
	}
	st.keys = &streamKeys{send: sender.SendKeyed, source: keys.New(keys.Spec{Kind: keys.Kind(k.Kind), Size: int(p.Workload.KeySize),
		Space: k.Space, Skew: k.Skew, Seed: p.Scenario.Seed}, st.id)}
	return nil
}

// beforeWindow is a bit of the number of every message before the window.
const beforeWindow = 1 << 39

// keyNumber returns the number from which the stream's next message gets its key. In
// the window it counts from the window's start, so that runs have equal keys whatever
// came before; before the window it is a number that does not occur in it.
func (st *stream) keyNumber() uint64 {
	if !st.begun {
		return st.next | beforeWindow
	}
	return st.next - st.first
}

// headersOf returns the headers as drivers take them.
func headersOf(h scenario.Headers) []driver.Header {
	var all []driver.Header
	for _, x := range h.List() {
		all = append(all, driver.Header(x))
	}
	return all
}

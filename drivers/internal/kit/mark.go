package kit

import "sync/atomic"

// Mark is the message that a Send is reading. One goroutine sends at a time;
// another, one at a time as well, resolves what a lost connection leaves behind.
// The zero value marks nothing.
type Mark struct {
	tag atomic.Uint64 // of the message; 0: no message
	why error         // written before tag is cleared by Leave, read after
}

// Begin marks the message with the tag, which is not 0. It must come before the
// message can be found by who calls Leave.
func (m *Mark) Begin(tag uint64) { m.tag.Store(tag) }

// Leave leaves the message with the tag to its Send, to be resolved with why,
// if Send still reads it; false: it does not.
func (m *Mark) Leave(tag uint64, why error) bool {
	if m.tag.Load() != tag {
		return false
	}
	m.why = why
	return m.tag.CompareAndSwap(tag, 0)
}

// End tells that Send reads the message no longer. An error says that the
// message was left to Send, and is what to resolve it with.
func (m *Mark) End(tag uint64) error {
	if m.tag.CompareAndSwap(tag, 0) {
		return nil
	}
	return m.why
}

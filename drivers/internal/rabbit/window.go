package rabbit

// Window holds what the broker has not answered yet, by the numbers that it
// knows messages by, each one larger than the last: First is the oldest's, Next
// that of the message to come. It is not safe for concurrent use.
type Window[M any] struct {
	First, Next uint64

	ring []M // its length is a power of two
}

// NewWindow returns one whose first message will have the number.
func NewWindow[M any](first uint64) Window[M] {
	return Window[M]{First: first, Next: first, ring: make([]M, 256)}
}

// At returns the message with the number, from First and before Next.
func (w *Window[M]) At(number uint64) *M { return &w.ring[number&uint64(len(w.ring)-1)] }

// Push adds a message and returns its number.
func (w *Window[M]) Push(m M) uint64 {
	if w.Next-w.First == uint64(len(w.ring)) {
		larger := make([]M, 2*len(w.ring))
		for number := w.First; number < w.Next; number++ {
			larger[number&uint64(len(larger)-1)] = *w.At(number)
		}
		w.ring = larger
	}
	number := w.Next
	*w.At(number) = m
	w.Next++
	return number
}

// Pop removes the message that was added last. There must be one.
func (w *Window[M]) Pop() {
	var none M
	w.Next--
	*w.At(w.Next) = none
}

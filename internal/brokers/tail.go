package brokers

import (
	"io"
	"strings"
	"sync"
)

// tailSize is how many bytes of a command's output are kept for an error message.
const tailSize = 2048

// tail is a writer that keeps the last tailSize bytes and passes all bytes on. Safe for
// concurrent use.
type tail struct {
	forward io.Writer // nil: nowhere

	mu   sync.Mutex
	last []byte
}

// Write implements io.Writer. It never fails: a command must not fail because its
// output is not read.
func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.last = append(t.last, p...)
	if n := len(t.last) - tailSize; n > 0 {
		t.last = append(t.last[:0], t.last[n:]...)
	}
	if t.forward != nil {
		t.forward.Write(p)
	}
	return len(p), nil
}

// String returns the last lines without the space around them.
func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return strings.TrimSpace(string(t.last))
}

package kit

import (
	"io"
	"sync"
	"sync/atomic"
	"time"
)

// Reader is what a wire reads from. It notes what [Reader.Watch] has to know.
type Reader struct {
	Source io.Reader

	waits atomic.Bool   // somebody waits for bytes
	reads atomic.Uint64 // how often some have come
}

// Read implements io.Reader.
func (r *Reader) Read(p []byte) (int, error) {
	r.waits.Store(true)
	n, err := r.Source.Read(p)
	r.waits.Store(false)
	r.reads.Add(1)
	return n, err
}

// Seen returns how often bytes have come, and whether somebody waits for more.
func (r *Reader) Seen() (reads uint64, waits bool) { return r.reads.Load(), r.waits.Load() }

// Serve runs read, which reads until an error, and calls silent as soon as [Reader.Watch]
// finds out that the server is not alive. It returns when neither runs any more.
func (r *Reader) Serve(every time.Duration, ask func() bool, silent func(), read func() error) error {
	over := make(chan struct{})
	var watching sync.WaitGroup
	watching.Go(func() {
		if r.Watch(every, over, ask) {
			silent()
		}
	})
	err := read()
	close(over)
	watching.Wait()
	return err
}

// Watch finds out whether the server is alive, until done is closed: it returns true
// once nothing has come for a whole interval at whose beginning ask was true, while
// somebody waited for it. ask puts a question to the server, or reports whether the
// server is to speak of itself; it does not block.
func (r *Reader) Watch(every time.Duration, done <-chan struct{}, ask func() bool) (silent bool) {
	beat := time.NewTicker(every)
	defer beat.Stop()
	var last uint64
	asked := false
	for {
		select {
		case <-done:
			return false
		case <-beat.C:
		}
		reads := r.reads.Load()
		if asked && reads == last && r.waits.Load() {
			return true
		}
		last = reads
		asked = ask()
	}
}

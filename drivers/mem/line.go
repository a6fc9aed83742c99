package mem

import (
	"fmt"
	"sync"
	"sync/atomic"

	"sixnines/driver"
)

// port names a connection of a session: parts of one role with equal numbers share it.
type port struct {
	session *session
	role    role
	conn    int
}

// role is whose connections are meant, as the option disconnect names them.
type role string

const (
	everybody role = "all"
	producers role = "producers"
	consumers role = "consumers"
)

// String returns the connection's name in events.
func (p port) String() string { return fmt.Sprintf("connection %d of the %s", p.conn, p.role) }

// line is the connection of a producer or consumer. It may be lost and made again until
// it ends.
type line struct {
	port port
	life chan struct{} // closed when the part is to end

	mu   sync.Mutex
	over bool
	gone atomic.Bool                   // the connection is lost; changed under mu
	cut  atomic.Pointer[chan struct{}] // closed when the connection is lost or ends
}

func newLine(p port) *line {
	l := &line{port: p, life: make(chan struct{})}
	l.cut.Store(new(make(chan struct{})))
	return l
}

// broken is closed when the connection is lost or ends. One that is made again has another
// channel.
func (l *line) broken() <-chan struct{} { return *l.cut.Load() }

// connection returns the line itself, for those that embed it.
func (l *line) connection() *line { return l }

// lose cuts the connection; false: there was no connection.
func (l *line) lose() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.over || l.gone.Load() {
		return false
	}
	l.gone.Store(true)
	close(*l.cut.Load())
	return true
}

// restore makes a lost connection again; false: it has ended.
func (l *line) restore() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.over || !l.gone.Load() {
		return false
	}
	l.cut.Store(new(make(chan struct{})))
	l.gone.Store(false)
	return true
}

// end ends the connection for good; false: it has ended.
func (l *line) end() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.over {
		return false
	}
	l.over = true
	close(l.life)
	if !l.gone.Load() {
		close(*l.cut.Load())
	}
	return true
}

// ended reports whether the part is to end.
func (l *line) ended() bool { return closed(l.life) }

// without is the class of what fails because the connection is lost or has ended.
func (l *line) without(lost error) error {
	if l.ended() {
		return driver.ErrClosed
	}
	return lost
}

func closed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

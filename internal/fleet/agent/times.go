package agent

import (
	"sync"
	"time"

	"github.com/nats-io/nats.go"

	"sixnines/internal/clocksync"
	"sixnines/internal/fleet/control"
	"sixnines/internal/fleet/wire"
)

// timePatience is how long the machine of the control plane may take to answer a question.
const timePatience = 250 * time.Millisecond

// times is the socket by which an agent asks the machine of the control plane for the time. It is made when a coordinator wants
// that first, and anew where the control plane is elsewhere.
type times struct {
	mu      sync.Mutex
	socket  *clocksync.Socket // nil: it is not made
	address string
	closed  bool
}

// to returns the socket.
func (t *times) to(nc *nats.Conn) (*clocksync.Socket, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	address := nc.ConnectedAddr()
	switch {
	case t.closed:
		return nil, errLeaving
	case t.socket != nil && t.address == address:
		return t.socket, nil
	case t.socket != nil:
		t.socket.Close()
		t.socket = nil
	}
	socket, err := control.DialTime(nc)
	if err == nil {
		t.socket, t.address = socket, address
	}
	return socket, err
}

func (t *times) close() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.closed = true
	if t.socket != nil {
		t.socket.Close()
		t.socket = nil
	}
}

// takeStamps asks the machine of the control plane for the time.
func (a *agent) takeStamps(data []byte) any {
	if err := wire.Decode(a.Version, data, &wire.Ask{}); err != nil {
		return refusal(err)
	}
	socket, err := a.times.to(a.conn)
	if err != nil {
		return refuse(wire.RefusedFailed, err)
	}
	x, err := socket.Sight(timePatience)
	if err != nil {
		return refuse(wire.RefusedFailed, err)
	}
	return wire.NewStamps(&x)
}

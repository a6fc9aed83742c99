package control

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"strings"

	"github.com/nats-io/nats.go"

	"sixnines/internal/clock"
	"sixnines/internal/clocksync"
)

// Ours reports whether a connection is to a control plane that sixnines started.
func Ours(nc *nats.Conn) bool { return strings.HasPrefix(nc.ConnectedServerName(), namePrefix) }

// ClockName names the clock of this process, for answers to questions for the time: two processes have the same name if they have
// one clock, or run on machines that were resumed from one snapshot.
func ClockName() uint64 {
	host, _ := os.Hostname() // with an empty one the boot id tells machines apart
	sum := sha256.Sum256([]byte(host + "\x00" + clock.Domain()))
	return binary.LittleEndian.Uint64(sum[:])
}

// DialTime makes a socket by which the machine of the control plane is asked for the time: over UDP, at the address to which nc
// is connected, which answers who has one of its tokens. The error wraps errors.ErrUnsupported if it is not ours, or this system has no
// such sockets. Whether it answers is not known yet. The caller closes it.
func DialTime(nc *nats.Conn) (*clocksync.Socket, error) {
	if !Ours(nc) {
		return nil, fmt.Errorf("ask the control plane for the time: %w: it is not one of sixnines", errors.ErrUnsupported)
	}
	return clocksync.Dial(nc.ConnectedAddr(), clocksync.NewKey(nc.Opts.Token), clocksync.OwnClocks(ClockName()))
}

// tellTime answers questions for the time on the port of the control plane. nil: they are not answered, on this system or since
// another process has the port; clocks are then compared by messages.
func tellTime(at netip.AddrPort, k *keep) *clocksync.Socket {
	r, err := clocksync.Listen(at, clocksync.OwnClocks(ClockName()), clocksync.NewKey(k.join), clocksync.NewKey(k.token))
	if err != nil {
		return nil
	}
	return r
}

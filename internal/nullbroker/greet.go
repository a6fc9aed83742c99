package nullbroker

import (
	"fmt"
	"io"
	"net"
)

// Greet introduces a client on a fresh connection and returns what the broker
// says of itself. A deadline is the caller's to set. An error that wraps
// [ErrProtocol] says that somebody else listens there. It reads no byte too many.
func Greet(c net.Conn) (Welcome, error) {
	if _, err := c.Write(appendHello(nil)); err != nil {
		return Welcome{}, err
	}
	const welcomeMost = 4 << 10
	b := make([]byte, lengthSize, welcomeMost)
	for have := 0; ; {
		if _, err := io.ReadFull(c, b[have:]); err != nil {
			return Welcome{}, err
		}
		have = len(b)
		f, n, need, err := Decode(b)
		switch {
		case err != nil:
			return Welcome{}, err
		case n > 0 && f.Op == OpRefused:
			return Welcome{}, fmt.Errorf("%w: it says %q", ErrProtocol, f.Payload)
		case n > 0 && f.Op != OpWelcome:
			return Welcome{}, fmt.Errorf("%w: it answers a hello with %q", ErrProtocol, byte(f.Op))
		case n > 0:
			return f.Welcome, nil
		case need > welcomeMost:
			return Welcome{}, fmt.Errorf("%w: it welcomes with %d bytes", ErrProtocol, need)
		}
		b = b[:need]
	}
}

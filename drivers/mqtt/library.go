package mqtt

import (
	"context"
	"path"
	"sync"
	"time"

	"sixnines/driver"
	"sixnines/drivers/internal/kit"
	"sixnines/semantics"
)

// The client libraries.
const (
	library3 = "github.com/eclipse/paho.mqtt.golang"
	library5 = "github.com/eclipse/paho.golang"
)

// software is the client: the library of the protocol's version, or the driver itself.
func (o Options) software() semantics.Client {
	switch {
	case !o.library():
		return semantics.Client{Kind: semantics.Direct}
	case o.v5():
		return kit.Library(path.Base(library5), library5)
	}
	return kit.Library(path.Base(library3), library3)
}

// nobody is a topic without subscribers. To unsubscribe from it is a round trip to the
// broker that both libraries offer: neither can send a ping on request.
func (s *session) nobody() string { return naming().Name(s.Target, "nobody-"+s.Nonce) }

// libraryWarnings says what the client library cannot keep of the contract.
func (s *session) libraryWarnings() (warnings []string) {
	o := &s.options
	if o.v5() {
		return nil
	}
	warnings = append(warnings, "paho.mqtt.golang refuses what its goroutine has not taken within 30 s, as when the broker does not read")
	if o.QoS > 0 {
		warnings = append(warnings, "acknowledgements are looked at in the order of the sends, so one that overtakes others counts as late as they are")
	}
	if o.subscribeQoS() == 2 && !o.CleanStart {
		warnings = append(warnings, "paho.mqtt.golang forgets what it has delivered: after a reconnection a message of quality of service 2 may come twice")
	}
	return warnings
}

// byLibrary is the common part of connections by either client library. A library's client
// lives as long as its connection, and so does its memory of messages: messages that it
// would send again on the next connection are forgotten.
type byLibrary struct {
	shared
	gate     sync.RWMutex // read-locked by senders that call the library; write-locked for good before the connection ends
	breaking sync.Once
	broken   chan struct{} // closed when the network connection has broken
	why      error         // set before broken is closed
}

// fail notes why the connection has broken, and closes it.
func (c *byLibrary) fail(err error) {
	c.breaking.Do(func() {
		c.why = err
		close(c.broken)
		c.raw.Close()
	})
}

// leaveMost is for a broker that has stopped reading, and a consumer that takes long.
const leaveMost = 200 * time.Millisecond

// leave calls end, and closes when that has returned or takes long.
func (c *byLibrary) leave(ctx context.Context, end func()) {
	left := make(chan struct{})
	go func() {
		defer close(left)
		end()
	}()
	patience := time.NewTimer(leaveMost)
	defer patience.Stop()
	select {
	case <-left:
	case <-patience.C:
	case <-ctx.Done():
	}
	c.fail(driver.ErrClosed)
}

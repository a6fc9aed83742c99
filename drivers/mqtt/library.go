package mqtt

import (
	"path"

	"sixnines/drivers/internal/kit"
)

// The client libraries.
const (
	library3 = "github.com/eclipse/paho.mqtt.golang"
	library5 = "github.com/eclipse/paho.golang"
)

// libraryName names the client library with the version in this program.
func (o Options) libraryName() string {
	module := library3
	if o.v5() {
		module = library5
	}
	return path.Base(module) + " " + kit.LibraryVersion(module)
}

// nobody is a topic that nobody subscribes to. To end the subscription to it is a
// round trip to the broker that both libraries offer: neither sends a ping when it is
// asked to.
func (s *session) nobody() string { return "sixnines/" + s.target.Run + "/nobody-" + s.nonce }

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

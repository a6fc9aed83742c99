package semantics

import "strings"

// ClientKind is whose code speaks the protocol with the broker.
type ClientKind string

// The kinds of clients.
const (
	Direct  ClientKind = "direct"  // the driver's own
	Library ClientKind = "library" // a client library's
)

// Client is what messages go through between the generator and the connection.
type Client struct {
	Kind ClientKind `json:"kind"`
	// Name and Version are those of the library; where the client is direct, of one that
	// makes the connections for it, if any does.
	Name    string `json:"name,omitempty"`
	Version string `json:"version,omitempty"`
}

// String writes the client for people: "franz-go v1.20.4", "direct", "direct, connections
// by nats.go 1.52.0".
func (c Client) String() string {
	library := strings.TrimSpace(c.Name + " " + c.Version)
	switch {
	case c.Kind != Direct:
		return library
	case library == "":
		return string(Direct)
	}
	return string(Direct) + ", connections by " + library
}

package natswire

import (
	"crypto/tls"
	"fmt"
	"strconv"
	"strings"

	"github.com/nats-io/nats.go"

	"sixnines/driver"
	"sixnines/semantics"
)

// Server is for driver.Semantics, of a session that uses the protocol.
func (c *Client) Server(protocol string) driver.Server {
	nc := c.control.nc
	s := driver.Server{Product: "nats-server", Version: nc.ConnectedServerVersion(), Protocol: protocol, More: map[string]string{
		"name": nc.ConnectedServerName(), "id": nc.ConnectedServerId(), "address": nc.ConnectedAddr(),
	}}
	if cluster := nc.ConnectedClusterName(); cluster != "" {
		s.More["cluster"] = cluster
	}
	return s
}

// Settings are those of driver.Semantics that all links have.
func (c *Client) Settings() map[string]string {
	nc := c.control.nc
	settings := map[string]string{
		"write_buffer":          driver.ByteSize(c.writeBuffer).String(),
		"max_payload":           driver.ByteSize(nc.MaxPayload()).String(),
		"headers":               strconv.FormatBool(nc.HeadersSupported()),
		"authentication":        c.how,
		"servers":               c.Address.String(),
		"ping_interval":         c.options.PingInterval.String(),
		"max_pings_outstanding": strconv.Itoa(c.options.MaxPingsOut),
		"max_reconnects":        strconv.Itoa(c.options.MaxReconnects),
		"reconnect_wait":        c.options.ReconnectWait.String(),
		"reconnect_buffer":      "none, sends fail while disconnected",
		"pending_limits":        "none",
	}
	jetstream, _ := nc.ConnectedServerJetStream()
	settings["jetstream"] = strconv.FormatBool(jetstream)
	return settings
}

// Software is the client for driver.Semantics: nats.go, which makes the connections of
// direct clients too.
func (c *Client) Software() semantics.Client {
	software := semantics.Client{Kind: semantics.Library, Name: "nats.go", Version: nats.Version}
	if c.Direct() {
		software.Kind = semantics.Direct
	}
	return software
}

// Warnings are those of driver.Semantics that all links have.
func (c *Client) Warnings() (all []string) {
	if !c.Direct() && c.writeBuffer > 1 && !c.options.Accounted {
		all = append(all, "what nats.go has collected when a connection is lost is dropped, and no event tells of it")
	}
	return all
}

// Batching is for driver.Semantics.
func (c *Client) Batching() string {
	switch {
	case c.writeBuffer == 1:
		return "none, each message is written on the sender's thread"
	case c.Direct():
		return fmt.Sprintf("up to %s, until flushed, or 5 to 10 ms", driver.ByteSize(c.writeBuffer))
	}
	return fmt.Sprintf("client, up to %s or until its flusher runs", driver.ByteSize(c.writeBuffer))
}

// Transport is for driver.Semantics, as is whether it is encrypted.
func (c *Client) Transport() (transport string, encrypted bool) {
	transport = "tcp"
	if strings.HasPrefix(c.Servers[0].Scheme, "ws") {
		transport = "tcp, websocket"
	}
	if state, err := c.control.nc.TLSConnectionState(); err == nil {
		return transport + ", " + strings.ToLower(tls.VersionName(state.Version)), true
	}
	return transport, false
}

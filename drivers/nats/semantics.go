package nats

import (
	"crypto/tls"
	"fmt"
	"maps"
	"strconv"
	"strings"

	"github.com/nats-io/nats.go"

	"sixnines/driver"
)

// ServerInfo implements driver.ServerInfo.
func (s *session) ServerInfo() map[string]string {
	nc := s.control.nc
	info := map[string]string{
		"product":  "nats-server",
		"version":  nc.ConnectedServerVersion(),
		"name":     nc.ConnectedServerName(),
		"id":       nc.ConnectedServerId(),
		"address":  nc.ConnectedAddr(),
		"protocol": "nats",
	}
	if cluster := nc.ConnectedClusterName(); cluster != "" {
		info["cluster"] = cluster
	}
	return info
}

// semantics reports the settings in effect. Slow consumers are the client's.
func (s *session) semantics(slow bool) driver.Semantics {
	nc := s.control.nc
	receiving, consumption := "messages taken from the client's connection", "push, delivered on the goroutine that reads"
	if slow || !s.direct(s.options.Receive) {
		receiving, consumption = "by the client", "push, unlimited queue in the client"
	}
	sem := driver.Semantics{
		Durability:     "none, messages are not stored",
		Replication:    "none",
		Acknowledgment: "none",
		Ordering:       "per producer and topic",
		Delivery:       "at most once",
		Batching:       s.batching(),
		Consumption:    consumption,
		Transport:      s.transport(),
		Settings: map[string]string{
			"client":                "nats.go " + nats.Version,
			"publish":               s.publishing(),
			"receive":               receiving,
			"write_buffer":          driver.ByteSize(s.writeBuffer).String(),
			"max_payload":           driver.ByteSize(nc.MaxPayload()).String(),
			"headers":               strconv.FormatBool(nc.HeadersSupported()),
			"authentication":        s.login(),
			"servers":               redact(s.servers),
			"ping_interval":         s.options.PingInterval.String(),
			"max_pings_outstanding": strconv.Itoa(s.options.MaxPingsOut),
			"max_reconnects":        strconv.Itoa(s.options.MaxReconnects),
			"reconnect_wait":        s.options.ReconnectWait.String(),
			"reconnect_buffer":      "none, sends fail while disconnected",
			"pending_limits":        "none",
		},
	}
	jetstream, _ := nc.ConnectedServerJetStream()
	sem.Settings["jetstream"] = strconv.FormatBool(jetstream)
	server := s.ServerInfo()
	maps.DeleteFunc(server, func(key, _ string) bool { return key == "protocol" })
	for key, value := range server {
		sem.Settings["server_"+key] = value
	}
	if s.tls != nil && s.tls.InsecureSkipVerify {
		sem.Warnings = append(sem.Warnings, "the server's certificate is not checked")
	}
	return sem
}

func (s *session) publishing() string {
	if s.direct(s.options.Publish) {
		return "frames of our own on the client's connection"
	}
	return "by the client"
}

func (s *session) batching() string {
	switch {
	case s.writeBuffer == 1:
		return "none, each message is written on the sender's thread"
	case s.direct(s.options.Publish):
		return fmt.Sprintf("up to %s, until flushed, or 5 to 10 ms", driver.ByteSize(s.writeBuffer))
	}
	return fmt.Sprintf("client, up to %s or until its flusher runs", driver.ByteSize(s.writeBuffer))
}

func (s *session) transport() string {
	transport := "tcp"
	if strings.HasPrefix(s.servers[0], "ws") {
		transport = "tcp, websocket"
	}
	if state, err := s.control.nc.TLSConnectionState(); err == nil {
		transport += ", " + strings.ToLower(tls.VersionName(state.Version))
	}
	return transport
}

// login names the way in which the connections logged in.
func (s *session) login() string {
	o := s.options
	switch {
	case o.User != "":
		return "user and password"
	case o.Token != "":
		return "token"
	case o.NKeySeed != "":
		return "nkey"
	case o.Creds != "":
		return "credentials file"
	case s.control.nc.AuthRequired():
		return "in the URL, or by certificate"
	}
	return "none"
}

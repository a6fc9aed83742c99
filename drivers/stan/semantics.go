package stan

import (
	"crypto/tls"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	client "github.com/nats-io/stan.go"

	"sixnines/driver"
	"sixnines/drivers/internal/natswire"
)

// ServerInfo implements driver.ServerInfo.
func (s *session) ServerInfo() map[string]string {
	info := map[string]string{"product": "nats-streaming-server", "protocol": "nats streaming", "cluster": s.options.ClusterID}
	s.mu.Lock()
	told := s.server
	s.mu.Unlock()
	if st := s.control.live.Load(); st != nil {
		info["nats_version"] = st.nc.ConnectedServerVersion()
		info["address"] = st.nc.ConnectedAddr()
	}
	if told.known {
		info["version"], info["id"], info["state"], info["go"] = told.Version, told.ID, told.State, told.Go
		if told.Role != "" {
			info["role"] = told.Role
		}
	}
	return info
}

// semantics reports the settings in effect, as far as the server tells.
func (s *session) semantics(st *streaming, told server) driver.Semantics {
	o := s.options
	sem := driver.Semantics{
		Durability:     "not known: option http_url was not given to ask the server's monitoring",
		Replication:    "not known, as durability",
		Acknowledgment: "the server's store has taken the message",
		Ordering:       "per producer and topic; what is delivered again comes later",
		Delivery:       s.delivery(),
		Batching:       "none, each message is written on the sender's thread",
		Consumption:    fmt.Sprintf("push, up to %d messages ahead of acknowledgements; each acknowledged after it was delivered, unless the scenario says every n", o.MaxInflight),
		Transport:      "tcp",
		Settings: map[string]string{
			"client":                "stan.go " + client.Version + ", nats.go " + nats.Version,
			"publish":               "the driver's own frames",
			"max_pub_acks_inflight": strconv.Itoa(o.MaxPubAcksInflight),
			"max_inflight":          strconv.Itoa(o.MaxInflight),
			"ack_wait":              o.AckWait.String(),
			"durable":               strconv.FormatBool(o.Durable),
			"write_buffer":          driver.ByteSize(s.writeBuffer).String(),
			"max_payload":           driver.ByteSize(st.nc.MaxPayload()).String(),
			"servers":               natswire.Redact(s.servers),
			"cluster_id":            o.ClusterID,
			"ping_interval":         (time.Duration(st.info.PingInterval) * time.Second).String(),
			"max_pings_outstanding": strconv.Itoa(int(st.info.PingMaxOut)),
			"reconnect_wait":        o.ReconnectWait.String(),
			"reconnect_buffer":      "none, sends fail while disconnected",
			"pending_limits":        "none",
			"authentication":        s.login(st),
		},
	}
	if s.writeBuffer > 1 {
		sem.Batching = fmt.Sprintf("client, up to %s or until its flusher runs", driver.ByteSize(s.writeBuffer))
	}
	if o.Publish == byClient {
		sem.Settings["publish"] = "by stan.go"
		sem.Settings["ack_timeout"] = o.AckTimeout.String()
	}
	for key, value := range s.ServerInfo() {
		if key != "protocol" {
			sem.Settings["server_"+key] = value
		}
	}
	if state, err := st.nc.TLSConnectionState(); err == nil {
		sem.Transport += ", " + strings.ToLower(tls.VersionName(state.Version))
	}
	if s.tls != nil && s.tls.InsecureSkipVerify {
		sem.Warnings = append(sem.Warnings, "the server's certificate is not checked")
	}
	if told.known {
		told.describe(&sem)
	}
	return sem
}

func (s *session) delivery() string {
	if s.options.Durable {
		return "at least once"
	}
	return "at least once while connected; a group whose members were all away begins with new messages"
}

// describe adds what the monitoring tells.
func (v server) describe(sem *driver.Semantics) {
	limits := v.store.Limits
	sem.Settings["store"] = strings.ToLower(v.store.Type)
	sem.Settings["max_channels"] = orNone(int64(limits.Channels))
	sem.Settings["max_msgs"] = orNone(int64(limits.Messages))
	sem.Settings["max_bytes"] = orNone(limits.Bytes)
	sem.Settings["max_age"] = orNone(limits.Age)
	if limits.Age > 0 {
		sem.Settings["max_age"] = time.Duration(limits.Age).String()
	}
	sem.Settings["max_inactivity"] = orNone(limits.Inactivity)
	if limits.Inactivity > 0 {
		sem.Settings["max_inactivity"] = time.Duration(limits.Inactivity).String()
	}
	sem.Replication = "none"
	if v.State == "CLUSTERED" {
		sem.Replication = "clustered, majority"
	}
	switch kind := strings.ToUpper(v.store.Type); {
	case strings.Contains(kind, "MEMORY"):
		sem.Durability = "memory"
	case strings.Contains(kind, "FILE"):
		sem.Durability = "file store; flushed before it is acknowledged, and synced unless the server was started with file_sync off, which it does not tell"
	default:
		sem.Durability = strings.ToLower(v.store.Type) + " store"
	}
	if limits.Messages > 0 || limits.Bytes > 0 || limits.Age > 0 {
		sem.Warnings = append(sem.Warnings, fmt.Sprintf("a channel holds up to %s messages, %s bytes, %s of age, and discards the oldest beyond, whether consumed or not",
			sem.Settings["max_msgs"], sem.Settings["max_bytes"], sem.Settings["max_age"]))
	}
}

func orNone(n int64) string {
	if n <= 0 {
		return "none"
	}
	return strconv.FormatInt(n, 10)
}

// login names the way in which the connections logged in.
func (s *session) login(st *streaming) string {
	switch {
	case s.options.User != "":
		return "user and password"
	case s.options.Token != "":
		return "token"
	case st.nc.AuthRequired():
		return "in the URL, or by certificate"
	}
	return "none"
}

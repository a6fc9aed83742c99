package resp

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"sixnines/driver"
	"sixnines/semantics"
)

// Server is what a server tells of itself.
type Server struct {
	Info     map[string]string // by the names of INFO; empty if that is forbidden
	Settings map[string]string // by the names of CONFIG GET, as far as they may be read
	Warnings []string          // what could not be found out
}

// look asks the server about itself and its settings called names. What it is
// forbidden to know becomes a warning.
func look(ctx context.Context, c *Control, names ...string) (s Server, err error) {
	s.Settings = map[string]string{}
	if s.Info, err = c.Info(ctx); err != nil {
		if !refused(err) {
			return s, err
		}
		s.Info = map[string]string{}
		s.Warnings = append(s.Warnings, "the server does not tell what it is: "+err.Error())
	}
	var hidden []string
	for _, name := range names {
		value, err := c.Config(ctx, name)
		switch {
		case err == nil:
			s.Settings[name] = value
		case refused(err):
			hidden = append(hidden, name)
		default:
			return s, err
		}
	}
	if len(hidden) > 0 {
		s.Warnings = append(s.Warnings, "the server does not tell its settings "+strings.Join(hidden, ", ")+" (CONFIG GET is refused)")
	}
	return s, nil
}

// refused reports whether the server answered, but not what was asked.
func refused(err error) bool {
	return errors.Is(err, driver.ErrUnauthorized) || errors.Is(err, driver.ErrUnsupported) || errors.Is(err, driver.ErrRejected)
}

// describe is for driver.Semantics.
func (s Server) describe(cl *Client) driver.Server {
	d := driver.Server{Product: "redis", Version: s.Info["redis_version"], Protocol: "RESP 2",
		More: map[string]string{"address": cl.Servers[0].Scheme + "://" + cl.Servers[0].Address}}
	// Servers that descend from Redis tell its version for the sake of clients,
	// and their own beside it.
	for name, product := range map[string]string{"valkey_version": "valkey", "dragonfly_version": "dragonfly", "garnet_version": "garnet"} {
		if v := s.Info[name]; v != "" {
			d.Product, d.Version = product, v
		}
	}
	for name, as := range map[string]string{"redis_mode": "mode", "run_id": "id", "os": "os", "multiplexing_api": "event_loop", "io_threads_active": "io_threads_active"} {
		if v := s.Info[name]; v != "" {
			d.More[as] = v
		}
	}
	return d
}

// Effective returns settings of weight for Semantics.
func (s Server) Effective(cl *Client) map[string]string {
	e := maps.Clone(s.Settings)
	for _, name := range []string{"role", "connected_slaves"} {
		if v := s.Info[name]; v != "" {
			e["server_"+name] = v
		}
	}
	if cl.cluster != nil {
		if v := cl.cluster.known.Load(); v != nil {
			replicas := 0
			for _, master := range v.masters() {
				replicas += len(v.replicas(master))
			}
			e["cluster_masters"], e["cluster_replicas"] = strconv.Itoa(len(v.masters())), strconv.Itoa(replicas)
		}
		e["producer_connections"] = "for each topic as many as asked for, to the server that has its slot"
	}
	e["authentication"] = cl.Login()
	e["database"] = strconv.Itoa(cl.Options.Database)
	e["reconnect_wait"] = cl.Options.ReconnectWait.String()
	e["max_reconnects"] = strconv.Itoa(cl.Options.MaxReconnects)
	e["reconnect_buffer"] = "none, sends fail while disconnected"
	e["write_buffer"] = cl.Options.WriteBuffer.String()
	return e
}

// Replication says how far the server copies its data, in words too.
func (s Server) Replication() (semantics.Replication, string) {
	switch n := s.Info["connected_slaves"]; {
	case len(s.Info) == 0:
		return semantics.Replication{Level: semantics.NotKnown}, "not known, the server does not tell"
	case n != "" && n != "0":
		replicas, _ := strconv.Atoi(n) // 0, which is not known, if it is no number
		if replicas > 0 {
			replicas++ // the server's own
		}
		return semantics.Replication{Level: semantics.Asynchronous, Copies: replicas}, "asynchronous, to " + n + " replicas"
	}
	return semantics.Replication{Level: semantics.OneCopy}, "none"
}

// Limit returns the largest payload in bytes that the server takes, and the
// setting that says so; 0 if it does not tell.
func (s Server) Limit() (limit int64, setting string) {
	for _, name := range limits() {
		if n, err := strconv.ParseInt(s.Settings[name], 10, 64); err == nil && n > 0 && (limit == 0 || n < limit) {
			limit, setting = n, name
		}
	}
	return limit, setting
}

// limits are the settings by which a server limits what it takes.
func limits() []string { return []string{"proto-max-bulk-len", "client-query-buffer-limit"} }

// Check refuses payloads of size bytes if the server would.
func (s Server) Check(size int) error {
	if limit, setting := s.Limit(); limit > 0 && int64(size) > limit {
		return fmt.Errorf("payloads of %d bytes: %w: the server's %s is %d", size, driver.ErrTooLarge, setting, limit)
	}
	return nil
}

// OutputLimit is what a server lets one kind of client be behind.
type OutputLimit struct {
	Hard, Soft int64 // bytes; 0: no limit
	Seconds    int   // how long the client may be beyond Soft
}

// OutputLimit returns the limit of a kind of client, such as pubsub.
func (s Server) OutputLimit(kind string) (l OutputLimit, ok bool) {
	words := strings.Fields(s.Settings[OutputLimits])
	i := slices.Index(words, kind)
	if i < 0 || i+3 >= len(words) {
		return l, false
	}
	if _, err := fmt.Sscan(strings.Join(words[i+1:i+4], " "), &l.Hard, &l.Soft, &l.Seconds); err != nil {
		return l, false
	}
	return l, true
}

// OutputLimits is the setting that [Server.OutputLimit] reads.
const OutputLimits = "client-output-buffer-limit"

// String says the limit in words; empty: no limit.
func (l OutputLimit) String() string {
	var words []string
	if l.Hard > 0 {
		words = append(words, fmt.Sprintf("%v behind", driver.ByteSize(l.Hard)))
	}
	if l.Soft > 0 {
		words = append(words, fmt.Sprintf("%v behind for %d s", driver.ByteSize(l.Soft), l.Seconds))
	}
	return strings.Join(words, ", or ")
}

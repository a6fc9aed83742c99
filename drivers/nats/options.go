package nats

import (
	"time"

	"sixnines/driver"
	"sixnines/drivers/internal/natswire"
)

// Options are the options of the driver, see driver.DecodeOptions.
type Options struct {
	WriteBuffer       driver.ByteSize `option:"write_buffer" doc:"bytes that are collected before they are written; 1: each message is written at once, on the sender's thread; 0: 1 where the load is paced, 64KiB flat out" min:"0" max:"64MiB"`
	Client            string          `option:"client" enum:"direct,library" formerly:"publish,receive" aliases:"client=library" doc:"direct: over plain TCP, messages go past the client library, over its connections, which costs less; consumers that take their time are left to it all the same; library: nats.go publishes and delivers, as most programs have it"`
	User              string          `option:"user" doc:"user name, with password"`
	Password          string          `option:"password" doc:"password of user" secret:"true"`
	Token             string          `option:"token" doc:"token, instead of a user" secret:"true"`
	NKeySeed          string          `option:"nkey_seed" doc:"file with an NKey seed to sign the server's challenge with"`
	Creds             string          `option:"creds" doc:"credentials file: a user's JWT and NKey seed"`
	Name              string          `option:"name" doc:"name of the connections at the server; the run, role and number of each are added"`
	InboxPrefix       string          `option:"inbox_prefix" doc:"first part of reply subjects, where permissions ask for one; absent: _INBOX"`
	ConnectTimeout    time.Duration   `option:"connect_timeout" doc:"longest time for one server to accept a connection and log in" min:"1ms"`
	PingInterval      time.Duration   `option:"ping_interval" doc:"how often the client checks that an idle server is alive" min:"1ms"`
	MaxPingsOut       int             `option:"max_pings_outstanding" doc:"unanswered checks until a connection counts as lost" min:"1"`
	MaxReconnects     int             `option:"max_reconnects" doc:"attempts to reconnect to each server; -1: without end, 0: none" min:"-1"`
	ReconnectWait     time.Duration   `option:"reconnect_wait" doc:"pause between attempts to reconnect, when all servers have been tried" min:"1ms"`
	DiscoveredServers bool            `option:"discovered_servers" doc:"after a connection is lost also try servers of the cluster that the URL does not list"`
	TLSFirst          bool            `option:"tls_first" doc:"start TLS before the server has said anything, as it must be configured to expect"`
}

// DefaultOptions returns the defaults.
func DefaultOptions() Options {
	w := natswire.DefaultOptions()
	return Options{
		Client:         natswire.Direct,
		Name:           w.Name,
		ConnectTimeout: w.ConnectTimeout,
		PingInterval:   w.PingInterval,
		MaxPingsOut:    w.MaxPingsOut,
		MaxReconnects:  w.MaxReconnects,
		ReconnectWait:  w.ReconnectWait,
	}
}

// wire returns what the connections are made with.
func (o Options) wire() natswire.Options {
	return natswire.Options{
		WriteBuffer: o.WriteBuffer, Library: o.Client == natswire.Library,
		User: o.User, Password: o.Password, Token: o.Token, NKeySeed: o.NKeySeed, Creds: o.Creds,
		Name: o.Name, InboxPrefix: o.InboxPrefix,
		ConnectTimeout: o.ConnectTimeout, PingInterval: o.PingInterval, MaxPingsOut: o.MaxPingsOut,
		MaxReconnects: o.MaxReconnects, ReconnectWait: o.ReconnectWait,
		DiscoveredServers: o.DiscoveredServers, TLSFirst: o.TLSFirst,
	}
}

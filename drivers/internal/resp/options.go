package resp

import (
	"time"

	"sixnines/driver"
)

// Options are those that both drivers have, see driver.DecodeOptions.
type Options struct {
	WriteBuffer      driver.ByteSize `option:"write_buffer" doc:"bytes that are collected while earlier messages wait for their answers; 1: each is written at once, on the sender's thread; 0: 1 where the load is paced, 64KiB flat out" min:"0" max:"64MiB"`
	User             string          `option:"user" doc:"user name (ACL), with password; absent: the server's default user"`
	Password         string          `option:"password" doc:"password, of user or of the default user" secret:"true"`
	SentinelUser     string          `option:"sentinel_user" doc:"user name (ACL) at Sentinels, with sentinel_password"`
	SentinelPassword string          `option:"sentinel_password" doc:"password at Sentinels; absent: user and password, where Sentinels ask for a login" secret:"true"`
	Database         int             `option:"database" doc:"number of the database to select, which holds streams, and which channels do not depend on; -1: the URL's, or 0" min:"-1"`
	Name             string          `option:"name" doc:"name of the connections at the server (CLIENT SETNAME); the run, role and number of each are added; empty: they get none"`
	ConnectTimeout   time.Duration   `option:"connect_timeout" doc:"longest time to connect and log in" min:"1ms"`
	ReconnectWait    time.Duration   `option:"reconnect_wait" doc:"pause between attempts to reconnect; the first is made at once" min:"1ms"`
	MaxReconnects    int             `option:"max_reconnects" doc:"attempts to reconnect until a connection is given up; -1: without end, 0: none" min:"-1"`
}

// DefaultOptions returns the defaults.
func DefaultOptions() Options {
	return Options{
		Database:       -1,
		Name:           "sixnines",
		ConnectTimeout: 5 * time.Second,
		ReconnectWait:  50 * time.Millisecond,
		MaxReconnects:  -1,
	}
}

// The values of the option client, which says by what messages are sent and received.
const (
	Direct  = "direct"  // frames of our own
	Library = "library" // redigo
)

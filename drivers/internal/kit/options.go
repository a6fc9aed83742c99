package kit

import (
	"slices"
	"time"

	"sixnines/driver"
)

// UserOptions are who logs in. The options of drivers embed them, see
// driver.DecodeOptions.
type UserOptions struct {
	User     string `option:"user" doc:"user name, with password; absent: the URL's, where it may have one"`
	Password string `option:"password" doc:"password of user" secret:"true"`
}

// ConnectOptions are for how long one connects, and connects again.
type ConnectOptions struct {
	ConnectTimeout time.Duration `option:"connect_timeout" doc:"longest time for a server to accept a connection and log in" min:"1ms"`
	ReconnectWait  time.Duration `option:"reconnect_wait" doc:"pause between attempts to connect again" min:"1ms"`
}

// Settings returns the values of options, by their names, for driver.Semantics. options
// points to the driver's.
func Settings(options any, names ...string) map[string]string {
	settings := map[string]string{}
	for _, o := range driver.DescribeOptions(options) {
		if slices.Contains(names, o.Name) {
			settings[o.Name] = o.Default
		}
	}
	return settings
}

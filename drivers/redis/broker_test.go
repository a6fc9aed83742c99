package redis_test

import (
	"testing"

	client "github.com/gomodule/redigo/redis"

	"sixnines/driver"
	"sixnines/drivers/internal/resp/resptest"
	"sixnines/drivers/internal/sessiontest"
	"sixnines/drivers/redis"
)

// leftovers lists the channels and connections with run in their names.
func leftovers(c *resptest.Server) func(run string) ([]string, error) {
	return func(run string) ([]string, error) {
		found, err := c.Connections(run)
		for _, list := range []string{"CHANNELS", "SHARDCHANNELS"} {
			if err != nil {
				return nil, err
			}
			var channels []string
			channels, err = client.Strings(c.Do("PUBSUB", list, "*"+run+"*"))
			found = append(found, channels...)
		}
		return found, err
	}
}

// open opens a session with the target.
func open(t testing.TB, target driver.Target) driver.Session {
	t.Helper()
	return sessiontest.Open(t, redis.Entry().Driver, target)
}

// works sends a message through a session with the target.
func works(t testing.TB, target driver.Target) driver.Semantics {
	t.Helper()
	return sessiontest.Works(t, redis.Entry().Driver, target)
}

// refused opens a session, which must fail with the class and say the words.
func refused(t testing.TB, target driver.Target, class error, words ...string) {
	t.Helper()
	sessiontest.Refused(t, redis.Entry().Driver, target, class, words...)
}

// clients lists the values of the option client.
func clients() []string { return []string{"direct", "library"} }

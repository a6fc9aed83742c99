package redisstreams_test

import (
	"testing"

	client "github.com/gomodule/redigo/redis"

	"sixnines/driver"
	"sixnines/drivers/internal/resp/resptest"
	"sixnines/drivers/internal/sessiontest"
	"sixnines/drivers/redisstreams"
)

// leftovers lists the keys and connections with run in their names.
func leftovers(c *resptest.Server) func(run string) ([]string, error) {
	return func(run string) ([]string, error) {
		found, err := c.Connections(run)
		if err != nil {
			return nil, err
		}
		keys, err := client.Strings(c.Do("KEYS", "*"+run+"*"))
		return append(found, keys...), err
	}
}

// unacked counts the entries of the streams with run in their names that a group
// has not been given or has not acknowledged.
func unacked(c *resptest.Server) func(run string) (int, error) {
	return func(run string) (int, error) {
		keys, err := client.Strings(c.Do("KEYS", "*"+run+"*"))
		if err != nil {
			return 0, err
		}
		open := 0
		for _, key := range keys {
			groups, err := client.Values(c.Do("XINFO", "GROUPS", key))
			if err != nil {
				return 0, err
			}
			length, err := client.Int(c.Do("XLEN", key))
			if err != nil {
				return 0, err
			}
			for _, group := range groups {
				facts, err := client.Values(group, nil)
				if err != nil {
					return 0, err
				}
				is := map[string]any{}
				for i := 0; i+1 < len(facts); i += 2 {
					name, _ := client.String(facts[i], nil)
					is[name] = facts[i+1]
				}
				pending, err := client.Int(is["pending"], nil)
				if err != nil {
					return 0, err
				}
				read := 0
				if is["entries-read"] != nil {
					if read, err = client.Int(is["entries-read"], nil); err != nil {
						return 0, err
					}
				}
				open += pending + length - read
			}
		}
		return open, nil
	}
}

// open opens a session with the target.
func open(t testing.TB, target driver.Target) driver.Session {
	t.Helper()
	return sessiontest.Open(t, redisstreams.Entry().Driver, target)
}

// works sends a message through a session with the target.
func works(t testing.TB, target driver.Target) driver.Semantics {
	t.Helper()
	return sessiontest.Works(t, redisstreams.Entry().Driver, target)
}

// refused opens a session, which must fail with the class and say the words.
func refused(t testing.TB, target driver.Target, class error, words ...string) {
	t.Helper()
	sessiontest.Refused(t, redisstreams.Entry().Driver, target, class, words...)
}

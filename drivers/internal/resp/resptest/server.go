// Package resptest gives tests of the drivers of Redis a server, and looks into
// it.
package resptest

import (
	"maps"
	"strings"
	"testing"

	"github.com/gomodule/redigo/redis"

	"sixnines/driver"
	"sixnines/driver/drivertest"
	"sixnines/internal/brokers"
	"sixnines/internal/brokers/brokertest"
)

// Server is a server for one test, started with options.
type Server struct {
	*brokers.Cluster
	options brokers.Options
}

// Start starts a server and stops it when the test ends.
func Start(t testing.TB, o brokers.Options) *Server {
	t.Helper()
	return &Server{Cluster: brokertest.Start(t, "redis", o), options: o}
}

// Do sends a command by the server's socket, logged in as the user of its
// options, and returns the reply as redigo does.
func (s *Server) Do(command string, args ...any) (any, error) {
	c, err := redis.Dial("unix", s.Info["socket"], redis.DialUsername(s.options.User), redis.DialPassword(s.options.Password))
	if err != nil {
		return nil, err
	}
	defer c.Close()
	return c.Do(command, args...)
}

// Connections lists the connections with run in their names.
func (s *Server) Connections(run string) ([]string, error) {
	clients, err := redis.String(s.Do("CLIENT", "LIST"))
	var found []string
	for line := range strings.Lines(clients) {
		if strings.Contains(line, run) {
			found = append(found, line)
		}
	}
	return found, err
}

// Harness puts a driver on trial with the server, which has a user with a
// password and a limit for messages. The options come beside the login.
func (s *Server) Harness(t testing.TB, e driver.Entry, options map[string]any) drivertest.Harness {
	at := func(url, password string) driver.Target {
		all := map[string]any{"user": s.options.User, "password": password}
		maps.Copy(all, options)
		return driver.Target{URL: url, Options: all}
	}
	wrong := at(s.URL, s.options.Password+"?")
	return drivertest.Harness{
		Entry:         e,
		Target:        at(s.URL, s.options.Password),
		At:            func(address string) driver.Target { return at("redis://"+address, s.options.Password) },
		WrongPassword: &wrong,
		MaxPayload:    s.options.MaxMessage,
		TooLarge:      s.options.MaxMessage + 1,
		Freeze:        brokertest.Freeze(t, s.Cluster),
		Thaw:          brokertest.Thaw(t, s.Cluster),
		Restart:       brokertest.Restart(t, s.Cluster),
		Encrypted: brokertest.Encrypted(t, "redis", s.options, func(c *brokers.Cluster) driver.Target {
			return at(c.URL, s.options.Password)
		}),
	}
}

// ClusterHarness puts a driver on trial with a cluster without login.
func ClusterHarness(t testing.TB, c *brokers.Cluster, e driver.Entry, options map[string]any) drivertest.Harness {
	at := func(url string) driver.Target { return driver.Target{URL: url, Options: options} }
	return drivertest.Harness{
		Entry:   e,
		Target:  at(c.URL),
		At:      func(address string) driver.Target { return at("redis+cluster://" + address) },
		Freeze:  brokertest.Freeze(t, c),
		Thaw:    brokertest.Thaw(t, c),
		Restart: brokertest.Restart(t, c),
	}
}

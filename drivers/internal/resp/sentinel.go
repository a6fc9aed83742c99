package resp

import (
	"context"
	"fmt"
	"net"

	"github.com/gomodule/redigo/redis"

	"sixnines/driver"
	"sixnines/drivers/internal/kit"
)

// askSentinels returns the address of the master as the first Sentinel that answers knows it. Every
// connection asks again, so that one that was lost in a failover leads to the new master. Clients ask so:
// https://redis.io/docs/latest/develop/reference/sentinel-clients/.
func (cl *Client) askSentinels(ctx context.Context) (kit.Server, error) {
	return sentinel(ctx, cl, func(c redis.Conn) (kit.Server, error) {
		found, err := redis.Strings(c.Do("SENTINEL", "GET-MASTER-ADDR-BY-NAME", cl.master))
		switch {
		case err == redis.ErrNil || err == nil && len(found) != 2:
			return kit.Server{}, fmt.Errorf("%w: the Sentinel knows no master %q", driver.ErrNotConnected, cl.master)
		case err != nil:
			return kit.Server{}, Explain(err)
		}
		return cl.serverAt(net.JoinHostPort(found[0], found[1])), nil
	})
}

// sentinel asks the first Sentinel that answers.
func sentinel[A any](ctx context.Context, cl *Client, ask func(c redis.Conn) (A, error)) (A, error) {
	how := kit.Connecting{Timeout: cl.Options.ConnectTimeout, Hint: "is this a Sentinel of Redis?"}
	return kit.Connect(ctx, cl.Base, cl.Servers, how, func(_ context.Context, raw kit.Conn) (A, error) {
		defer raw.Close()
		c, err := cl.logInToSentinel(raw)
		if err != nil {
			var none A
			return none, err
		}
		return ask(c)
	})
}

// logInToSentinel logs in as the options say, and otherwise as at the servers where the Sentinel asks for a login: most have none.
func (cl *Client) logInToSentinel(raw kit.Conn) (redis.Conn, error) {
	c := redis.NewConn(raw.Conn, 0, 0)
	user, password := cl.Options.SentinelUser, cl.Options.SentinelPassword
	if password == "" {
		if _, err := c.Do("PING"); !IsReply(err, "NOAUTH") || cl.Secret == "" {
			return c, nil // what is asked next says what is wrong
		}
		user, password = cl.User, cl.Secret
	}
	args := []any{password}
	if user != "" {
		args = []any{user, password}
	}
	_, err := c.Do("AUTH", args...)
	return c, Explain(err)
}

// serverAt returns the server at an address that another server has named.
func (cl *Client) serverAt(address string) kit.Server {
	s := kit.Server{Address: address, TLS: cl.TLS != nil, Scheme: "redis"}
	if s.TLS {
		s.Scheme = "rediss"
	}
	s.Host, _, _ = net.SplitHostPort(address)
	return s
}

// leads refuses a server that Sentinels named and that is no master: one that has come back serves until they
// have made it a replica, and one that they promote becomes the master a little later.
func (cl *Client) leads(c *Conn) error {
	if cl.master == "" {
		return nil
	}
	role, err := redis.Values(c.Do("ROLE"))
	if IsReply(err, "NOPERM") {
		return nil
	}
	if err != nil {
		return Explain(err)
	}
	if len(role) > 0 {
		if name, err := redis.String(role[0], nil); err != nil || name == "master" {
			return err
		}
	}
	return fmt.Errorf("%w: the Sentinels name a server that is not the master", driver.ErrNotConnected)
}

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
// https://redis.io/docs/latest/develop/reference/sentinel-clients/. They need not log in to Sentinels.
func (cl *Client) askSentinels(ctx context.Context) (kit.Server, error) {
	how := kit.Connecting{Timeout: cl.Options.ConnectTimeout, Hint: "is this a Sentinel of Redis?"}
	return kit.Connect(ctx, cl.Base, cl.Servers, how, func(_ context.Context, raw kit.Conn) (kit.Server, error) {
		defer raw.Close()
		found, err := redis.Strings(redis.NewConn(raw.Conn, 0, 0).Do("SENTINEL", "GET-MASTER-ADDR-BY-NAME", cl.master))
		switch {
		case err == redis.ErrNil || err == nil && len(found) != 2:
			return kit.Server{}, fmt.Errorf("%w: the Sentinel knows no master %q", driver.ErrNotConnected, cl.master)
		case err != nil:
			return kit.Server{}, Explain(err)
		}
		scheme := "redis"
		if cl.TLS != nil {
			scheme = "rediss"
		}
		return kit.Server{Address: net.JoinHostPort(found[0], found[1]), Host: found[0], TLS: cl.TLS != nil, Scheme: scheme}, nil
	})
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

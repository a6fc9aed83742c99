package resp

import (
	"context"
	"fmt"

	goredis "github.com/redis/go-redis/v9"

	"sixnines/driver"
	"sixnines/drivers/internal/kit"
)

// redigoVersion is that of go.mod; redigo does not tell it.
const redigoVersion = "1.9.3"

// sender is a connection of producers, by one of the clients. Any goroutine may use it.
type sender interface {
	kit.Wire
	driver.Flusher
	driver.Syncer
	// Send sends a command with its payload.
	Send(token uint64, acks driver.Acks, c *Command, payload []byte) error
}

// wire is the connection of a link of producers.
type wire struct{ sender }

// Watch sees the replies to what producers send, on the goroutine that reads them.
type Watch interface {
	// Reply judges a reply that is no error, see Reader.Head; the error that it
	// returns, with a class, is Done's.
	Reply(kind byte, n int64) error
	// Lost is called when a connection has ended, before what is open on it is
	// resolved.
	Lost()
}

// trip is the Acks of a Sync.
type trip chan error

// Done implements driver.Acks.
func (t trip) Done(_ uint64, err error) { t <- err }

// await waits for the answer.
func (t trip) await(ctx context.Context) error {
	select {
	case err := <-t:
		return err
	case <-ctx.Done():
		return ended(ctx)
	}
}

// software names the client with its version.
func (cl *Client) software() string {
	switch cl.Via {
	case GoRedis:
		return "go-redis " + goredis.Version()
	case Redigo:
		return "redigo " + redigoVersion
	}
	return "direct"
}

// batches reports whether producers collect messages until they are flushed, or sooner.
func (cl *Client) batches() bool { return cl.Via != GoRedis && cl.Options.WriteBuffer > 1 }

// batching says in words how producers write. A message is called what: "publish".
func (cl *Client) batching(what string, silent bool) string {
	switch {
	case cl.Via == GoRedis:
		return fmt.Sprintf("pipelines, one after the other: each is all that was sent during the one before, up to %s", driver.ByteSize(waitingMost))
	case !cl.batches():
		return "none, each " + what + " is written on the sender's thread"
	case silent:
		return fmt.Sprintf("up to %s, until flushed, or 5 to 10 ms", cl.Options.WriteBuffer)
	}
	return fmt.Sprintf("up to %s, until flushed, or as many as are out without an answer", cl.Options.WriteBuffer)
}

// warnings say what the client library cannot tell of outcomes and connections.
func (cl *Client) warnings() []string {
	switch cl.Via {
	case GoRedis:
		return []string{"go-redis finds a lost connection with the next message, and gives all of a pipeline one error: what was answered or not written counts as unknown too"}
	case Redigo:
		return []string{"redigo does not tell what it had written when a connection was lost: what was not counts as unknown too"}
	}
	return nil
}

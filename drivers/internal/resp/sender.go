package resp

import (
	"context"
	"fmt"

	goredis "github.com/redis/go-redis/v9"

	"sixnines/driver"
)

// The clients by which messages are sent and received: the values of the option
// client.
const (
	Direct  = "direct" // frames of our own, without a library
	GoRedis = "go-redis"
	Redigo  = "redigo"
)

// redigoVersion is that of go.mod; redigo does not tell it.
const redigoVersion = "1.9.3"

// sender is a connection of producers, which comes back by itself. Any goroutine may
// use it.
type sender interface {
	driver.Flusher
	driver.Syncer
	// Send sends a command with its payload, see Pipeline.Send.
	Send(token uint64, acks driver.Acks, c *Command, payload []byte) error
	// Batching reports whether commands are collected until Flush, or sooner.
	Batching() bool
	Close(ctx context.Context) error
	Stuck(ctx context.Context) error
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

// Batching says in words how producers write. A message is called what: "publish".
func (cl *Client) Batching(what string, silent bool) string {
	switch {
	case cl.Via == GoRedis:
		return fmt.Sprintf("pipelines, one after the other: each is all that was sent during the one before, up to %s", driver.ByteSize(waitingMost))
	case cl.WriteBuffer <= 1:
		return "none, each " + what + " is written on the sender's thread"
	case silent:
		return fmt.Sprintf("up to %s, until flushed, or 5 to 10 ms", driver.ByteSize(cl.WriteBuffer))
	}
	return fmt.Sprintf("up to %s, until flushed, or as many as are out without an answer", driver.ByteSize(cl.WriteBuffer))
}

// Warnings say what the client library cannot tell of outcomes and connections.
func (cl *Client) Warnings() []string {
	switch cl.Via {
	case GoRedis:
		return []string{"go-redis finds a lost connection with the next message, and gives all of a pipeline one error: what was answered or not written counts as unknown too"}
	case Redigo:
		return []string{"redigo does not tell what it had written when a connection was lost: what was not counts as unknown too"}
	}
	return nil
}

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

// software names the client, and what logs in for it.
func (cl *Client) software() string {
	const login = "; redigo " + redigoVersion + " to connect, log in and ask"
	switch cl.Via {
	case GoRedis:
		return "go-redis " + goredis.Version() + login
	case Redigo:
		return "redigo " + redigoVersion
	}
	return "direct: messages by frames of our own" + login
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
		return []string{
			"go-redis waits for the answers to a pipeline before it sends the next: a message that comes meanwhile waits for them",
			"when a connection is lost, all messages of the pipeline that was under way count as unknown, also those that were answered or not written: go-redis gives them one error",
			"go-redis reads the connection of a producer only while it waits for answers: that it was lost is noticed, and an event says so, when the next message is sent",
		}
	case Redigo:
		return []string{"when a connection is lost, all messages that were not answered count as unknown, also those that were not written: redigo does not tell"}
	}
	return nil
}

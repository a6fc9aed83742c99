package rabbitmqstream

import (
	"context"
	"testing"

	"sixnines/driver"
	"sixnines/drivers/internal/kit"
	"sixnines/drivers/internal/rabbit"
	"sixnines/drivers/rabbitmqstream/wire"
)

// subscribing is a connection that keeps who has subscribed.
type subscribing struct {
	connection
	to wire.Subscriber
}

func (s *subscribing) subscribe(_ context.Context, _ subscription, to wire.Subscriber) (receiver, error) {
	s.to = to
	return nil, nil
}

// A slow consumer has the server send a chunk when it has dealt with one, and not when one
// has come: else all of the stream would lie here.
func TestAChunkIsAskedForWhenOneIsDealtWith(t *testing.T) {
	s, err := newSession(driver.Target{URL: "host", Run: "r"}, DefaultOptions())
	if err != nil {
		t.Fatal(err)
	}
	defer s.Stop()
	inside, hold, credited := make(chan struct{}), make(chan struct{}), make(chan struct{})
	c := &consumer{session: s, gate: kit.NewGate(nil), deliver: func(driver.Message) { close(inside); <-hold }}
	c.backlog = kit.NewBacklog(c.catchUp)
	defer c.backlog.Stop()
	to := new(subscribing)
	if err := (&part{consumer: c, stream: "s"}).Attach(t.Context(), &rabbit.Wire[connection]{Conn: to}); err != nil {
		t.Fatal(err)
	}
	slow, ok := to.to.(wire.Keeper)
	if !ok {
		t.Fatal("it keeps nothing for later")
	}
	slow.Deliver(0, []byte("m"))
	slow.Behind(func() { close(credited) })
	<-inside
	select {
	case <-credited:
		t.Error("another chunk is asked for while the message is dealt with")
	default:
	}
	close(hold)
	<-credited
}

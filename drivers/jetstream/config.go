package jetstream

import (
	"fmt"
	"time"

	js "github.com/nats-io/nats.go/jetstream"

	"sixnines/driver"
)

// idleLimit is how long the server keeps an unused consumer.
const idleLimit = 5 * time.Minute

// acksOf returns the server's policy for the consumer's acknowledgements.
func (s *session) acksOf(spec driver.ConsumerSpec, way string) js.AckPolicy {
	switch {
	case way == ordered || spec.Ack.Mode == driver.AckNone:
		return js.AckNonePolicy
	case spec.Ack.Mode == driver.AckEvery && spec.Group == "" && s.options.Retention != "workqueue":
		return js.AckAllPolicy
	}
	// Members of a group must not acknowledge each other's messages.
	return js.AckExplicitPolicy
}

// base is what consumers have in common.
func (s *session) base(name string, acks js.AckPolicy) js.ConsumerConfig {
	c := js.ConsumerConfig{Name: name, Durable: name, AckPolicy: acks, DeliverPolicy: js.DeliverAllPolicy}
	if acks != js.AckNonePolicy {
		c.AckWait = s.options.AckWait
	}
	return c
}

// ackPending returns how many deliveries may be unacknowledged, for members that acknowledge
// after every every messages.
func (s *session) ackPending(members, every int) int {
	const usual = 1000 // the server's
	if s.options.MaxAckPending != 0 {
		return s.options.MaxAckPending
	}
	// Who holds back fewer than every acknowledgements must be sent more.
	return max(usual, 2*members*every)
}

// groupConfig is the consumer that members of a group share. How they
// acknowledge is not known before they come: room is made for what they ask.
func (s *session) groupConfig(st stream, group string, members int) js.ConsumerConfig {
	c := s.base(plain(group), js.AckExplicitPolicy)
	c.MaxAckPending = s.ackPending(members, 1)
	if s.options.groupWay() == push {
		c.DeliverSubject, c.DeliverGroup = s.groupSubject(st, group), plain(group)
	}
	return c
}

// config is the feed's consumer. Of one that the stream has lost, from is the
// last message that came; else it begins with what comes next, or with what there
// is where that is to be used.
func (f *feed) config() js.ConsumerConfig {
	s, spec := f.consumer.session, f.consumer.spec
	o := s.options
	if f.consumer.isGuest() {
		return js.ConsumerConfig{Name: spec.Group}
	}
	if spec.Group != "" {
		s.mu.Lock()
		members := max(1, s.topology.Consumers)
		s.mu.Unlock()
		c := s.groupConfig(f.stream, spec.Group, members)
		c.AckPolicy = f.acks
		if f.acks == js.AckNonePolicy {
			c.AckWait, c.MaxAckPending = 0, 0
		} else {
			c.MaxAckPending = s.ackPending(members, max(1, spec.Ack.Every))
		}
		return c
	}
	f.made++
	name := plain(s.Target.Prefix) + fmt.Sprintf("c%d-%s", spec.ID, s.Nonce)
	c := s.base(name, f.acks)
	switch {
	case f.consumer.way == ordered:
		c = js.ConsumerConfig{Name: fmt.Sprintf("%s-%d", name, f.made), AckPolicy: js.AckNonePolicy, MaxDeliver: 1,
			MemoryStorage: true, Replicas: 1}
	case f.acks != js.AckNonePolicy:
		c.MaxAckPending = s.ackPending(1, max(1, spec.Ack.Every))
	}
	c.InactiveThreshold = idleLimit
	if s.Target.Given {
		c.FilterSubject = f.stream.subject // the stream may have more
	}
	if f.consumer.way == push || f.consumer.way == ordered {
		c.DeliverSubject = f.inbox
		c.FlowControl = o.FlowControl
		if o.FlowControl || f.consumer.way == ordered {
			c.IdleHeartbeat = o.Heartbeat
		}
	}
	switch {
	case !f.begun && (o.Retention == "workqueue" || s.oldest()):
		c.DeliverPolicy = js.DeliverAllPolicy // a work queue takes no other
	case !f.begun:
		c.DeliverPolicy = js.DeliverNewPolicy
	default:
		c.DeliverPolicy, c.OptStartSeq = js.DeliverByStartSequencePolicy, f.last+1
	}
	return c
}

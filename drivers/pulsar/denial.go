package pulsar

import (
	"strings"
	"time"

	"github.com/apache/pulsar-client-go/pulsar/backoff"

	"sixnines/drivers/internal/kit"
)

// denial is how often in a row the broker has refused a link's producers or consumers of a
// topic, though it lets the link in: a right was revoked. The client asks again for as long
// as it lives.
type denial struct {
	refusals kit.Refusals
	pause    time.Duration // before the client asks again
	gaveUp   error         // why nothing more is asked for; nil: it is
}

// deny notes that the broker has refused a producer or consumer of a topic.
func (l *link) deny(topic string, why error) (first, gaveUp bool) {
	topic = whole(topic)
	l.mu.Lock()
	defer l.mu.Unlock()
	d := l.denials[topic]
	if d == nil {
		d, first = &denial{}, true
		if l.denials == nil {
			l.denials = map[string]*denial{}
		}
		l.denials[topic] = d
	}
	if d.gaveUp != nil {
		return false, false
	}
	pause, again := d.refusals.Add(why, l.session.options.ReconnectWait)
	if d.pause = pause; !again {
		d.gaveUp, d.pause = why, never
	}
	return first, !again
}

// denied returns why the topic was given up, if it was. The caller holds the lock.
func (l *link) denied(topic string) error {
	if d := l.denials[topic]; d != nil {
		return d.gaveUp
	}
	return nil
}

// whole is the topic that a partition is of.
func whole(topic string) string {
	topic, _, _ = strings.Cut(topic, "-partition-")
	return topic
}

// pacing is how long the client waits between attempts to get a producer or a consumer of
// the topics back. It implements backoff.Policy.
type pacing struct {
	link   *link
	topics []string
}

// Next implements backoff.Policy.
func (p pacing) Next() time.Duration {
	p.link.mu.RLock()
	defer p.link.mu.RUnlock()
	longest := p.link.session.options.ReconnectWait
	for _, topic := range p.topics {
		if d := p.link.denials[topic]; d != nil {
			longest = max(longest, d.pause)
		}
	}
	return longest
}

// IsMaxBackoffReached implements backoff.Policy.
func (pacing) IsMaxBackoffReached() bool { return false }

// Reset implements backoff.Policy.
func (pacing) Reset() {}

// pacing makes the policies of a producer or a consumer.
func (l *link) pacing(topics ...string) func() backoff.Policy {
	return func() backoff.Policy { return pacing{l, topics} }
}

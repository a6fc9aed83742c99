package pulsar

import (
	"errors"
	"fmt"

	"github.com/apache/pulsar-client-go/pulsar/log"

	"sixnines/driver"
)

// journal is the log of a link's client. It writes nothing. What the client tells
// nowhere else becomes events, and the reason why there is no connection; the texts
// are those of v0.19.0, and the conformance suite misses events when they change.
type journal struct {
	log.Logger // which writes nothing
	link       *link
	topic      string // of the producer or consumer that logs; empty: none
}

func newJournal(l *link) journal { return journal{Logger: log.DefaultNopLogger(), link: l} }

// SubLogger implements log.Logger.
func (j journal) SubLogger(fields log.Fields) log.Logger {
	if topic, ok := fields["topic"].(string); ok {
		j.topic = topic
	}
	return j
}

// WithFields implements log.Logger.
func (j journal) WithFields(log.Fields) log.Entry { return j.entry(nil) }

// WithField implements log.Logger.
func (j journal) WithField(string, any) log.Entry { return j.entry(nil) }

// WithError implements log.Logger.
func (j journal) WithError(err error) log.Entry { return j.entry(err) }

func (j journal) entry(err error) log.Entry {
	return entry{Entry: j.Logger.WithError(nil), journal: j, err: err}
}

// Debug implements log.Logger. The client calls it several times a message.
func (j journal) Debug(args ...any) {
	switch text, _ := args[0].(string); text {
	case "connection closed and send to connectClosedCh": // of a consumer
		j.notify(driver.Event{Kind: driver.Disconnected, Detail: "Connection was closed"})
	case "Got MaxMessageSize from handshake response:":
		if size, ok := args[1].(int32); ok {
			j.link.session.limit.Store(int64(size))
		}
	}
}

// Info implements log.Logger.
func (j journal) Info(args ...any) { j.hear(nil, "", args...) }

// Warn implements log.Logger.
func (j journal) Warn(args ...any) { j.hear(nil, "", args...) }

// Error implements log.Logger.
func (j journal) Error(args ...any) { j.hear(nil, "", args...) }

// Warnf implements log.Logger.
func (j journal) Warnf(format string, args ...any) { j.hear(nil, fmt.Sprintf(format, args...), format) }

// hear makes something of an entry, by its text, or its format if it has one; said
// is what that comes to.
func (j journal) hear(err error, said string, args ...any) {
	text, _ := args[0].(string)
	switch text {
	case "Connection was closed": // of a producer
		j.notify(driver.Event{Kind: driver.Disconnected, Detail: text})
	case "Reconnected producer to broker", "Reconnected consumer to broker":
		j.link.admitted(j.topic)
		j.notify(driver.Event{Kind: driver.Reconnected, Detail: text})
	case "Failed to connect to broker.", "Failed to configure TLS ", "Failed to load auth credentials", "Failed to perform initial handshake":
		j.link.refuse(j.link.session.unreachable(err))
	case "Failed to establish connection with broker: '%s'":
		why := fmt.Errorf("%w: %s; check option token", driver.ErrUnauthorized, said)
		if j.link.refuse(why) {
			j.notify(driver.Event{Kind: driver.GivenUp, Detail: why.Error(), Err: why})
		}
	case "Failed to reconnect to broker, will retry later.", "Failed to create consumer at reconnect":
		if err != nil && errors.Is(classOf(err), driver.ErrUnauthorized) {
			j.deny(fmt.Errorf("%w: %w", driver.ErrUnauthorized, err))
		}
	case "Discarding corrupted message":
		j.notify(driver.Event{Kind: driver.Dropped, Count: 1, Detail: text})
	case "Received send error from server: [%v] : [%s]",
		"Received ack for %v on sequenceId %v - expected: %v, local < remote, closing connection":
		j.notify(driver.Event{Kind: driver.AsyncError, Detail: said})
	case "Detected stale connection to broker", "Topic Not Found.",
		"Topic not found, stop reconnecting, close the producer",
		"Topic was terminated, failing pending messages, stop reconnecting, close the producer",
		"Producer was fenced, failing pending messages, stop reconnecting":
		j.notify(driver.Event{Kind: driver.AsyncError, Detail: text})
	}
}

// deny tells of a right that was revoked: once, and when nothing more is asked for.
func (j journal) deny(why error) {
	first, gaveUp := j.link.deny(j.topic, why)
	if first {
		j.notify(driver.Event{Kind: driver.AsyncError, Detail: why.Error(), Err: why})
	}
	if gaveUp {
		j.notify(driver.Event{Kind: driver.GivenUp, Detail: why.Error(), Err: why})
	}
}

// notify reports an event, unless the session is closing.
func (j journal) notify(e driver.Event) {
	s := j.link.session
	if s.Closed() {
		return
	}
	e.Detail = fmt.Sprintf("%s: %s", j.link.key, e.Detail)
	if j.topic != "" {
		e.Detail += " (" + j.topic + ")"
	}
	s.Target.Notify(e)
}

// entry is what the client adds fields and an error to.
type entry struct {
	log.Entry // which writes nothing
	journal   journal
	err       error
}

// WithFields implements log.Entry.
func (e entry) WithFields(log.Fields) log.Entry { return e }

// WithField implements log.Entry.
func (e entry) WithField(string, any) log.Entry { return e }

// Info implements log.Entry.
func (e entry) Info(args ...any) { e.journal.hear(e.err, "", args...) }

// Warn implements log.Entry.
func (e entry) Warn(args ...any) { e.journal.hear(e.err, "", args...) }

// Error implements log.Entry.
func (e entry) Error(args ...any) { e.journal.hear(e.err, "", args...) }

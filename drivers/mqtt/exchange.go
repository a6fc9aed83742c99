package mqtt

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"time"

	"sixnines/driver"
	"sixnines/drivers/internal/kit"
)

// exchange is a conversation with the broker apart from the messages: one
// connection, one goroutine.
type exchange struct {
	*wire
	serial uint16 // of the latest packet that wants an answer
}

// talk connects as the client called id, or a control client of the session's
// if that is empty, and ends the connection after f.
func (s *session) talk(ctx context.Context, id string, f func(d *exchange) error) error {
	l := s.newClient(s.Apart(), kit.Key{Role: kit.Control}) // Deprovision may come after Close
	// The broker may not have seen the end of the one before.
	l.id += "-" + strconv.FormatInt(s.talks.Add(1), 10)
	if id != "" {
		l.id = id
	}
	var c *client
	err := kit.Await(ctx, "mqtt: connect", passes, func() (err error) {
		c, err = l.dial(ctx)
		return err
	})
	if err != nil {
		return err
	}
	w := c.connection.(*wire) // as of every control client
	stop := context.AfterFunc(ctx, func() { w.raw.Close() })
	err = f(&exchange{wire: w})
	if stop() {
		w.Leave(ctx)
	} else if err != nil {
		err = fmt.Errorf("%w: %w", driver.ErrNotConnected, context.Cause(ctx))
	}
	w.End(driver.ErrClosed)
	if err != nil && driver.Class(err) == nil {
		err = fmt.Errorf("%w: %w", driver.ErrNotConnected, err)
	}
	return err
}

// subscribe subscribes with quality of service 0 and waits for the answer. What
// else comes is for f.
func (d *exchange) subscribe(filter string, f func(p published)) (reason, error) {
	d.serial++
	if err := d.writer.Write(appendSubscribe(nil, d.link.v5, d.serial, 0, []string{filter}, true)); err != nil {
		return 0, err
	}
	var code reason
	err := d.until(func(first byte, body []byte) (bool, error) {
		switch first & typeMask {
		case typePublish:
			p, err := parsePublish(d.link.v5, first, body)
			f(p)
			return false, err
		case typeSuback:
			codes, err := parseSuback(d.link.v5, body)
			if err == nil && len(codes) != 1 {
				err = fmt.Errorf("%w: SUBACK with %d answers to one filter", errMalformed, len(codes))
			}
			if err == nil {
				code = reason(codes[0])
			}
			return true, err
		}
		return false, nil
	})
	return code, err
}

// retained returns the topics below filter that have retained messages, with these. The
// broker sends them before it answers a ping.
func (d *exchange) retained(filter string) (map[string]string, error) {
	found := map[string]string{}
	note := func(p published) {
		if p.retained {
			found[string(p.topic)] = string(p.payload)
		}
	}
	code, err := d.subscribe(filter, note)
	if err != nil || code.failed() {
		return nil, err
	}
	if err := d.writer.Write([]byte{typePingreq, 0}); err != nil {
		return nil, err
	}
	return found, d.until(func(first byte, body []byte) (bool, error) {
		if first&typeMask == typePublish {
			p, err := parsePublish(d.link.v5, first, body)
			note(p)
			return false, err
		}
		return first&typeMask == typePingresp, nil
	})
}

// probeWait is how long a message to oneself may take after the broker has
// answered a ping that was sent behind it.
const probeWait = 2 * time.Second

var errNothing = errors.New("nothing comes")

// probe sends a message of size bytes to topic, to which filter must lead, and
// waits until it is back. Only errNothing says that the broker is well and the
// message has not come.
func (d *exchange) probe(filter, topic string, size, qos int) error {
	code, err := d.subscribe(filter, func(published) {})
	if err != nil {
		return err
	}
	if code.failed() {
		if code == 0x80 && !d.link.v5 {
			return fmt.Errorf("subscribe to %q: %w: the broker refuses without a reason", filter, driver.ErrForbidden)
		}
		return fmt.Errorf("subscribe to %q: %w: %w", filter, code.Unwrap(), code)
	}
	d.serial++
	packet := appendPublish(nil, publication{v5: d.link.v5, flags: byte(qos) << 1, topic: topic, id: d.serial}, make([]byte, size))
	if err := d.writer.Write(append(packet, typePingreq, 0)); err != nil {
		return err
	}
	defer d.raw.SetReadDeadline(time.Time{})
	back, released := false, qos < 2
	err = d.until(func(first byte, body []byte) (bool, error) {
		switch first & typeMask {
		case typePublish:
			p, err := parsePublish(d.link.v5, first, body)
			back = back || string(p.topic) == topic
			return back && released, err
		case typePuback, typePubrec, typePubcomp:
			id, why, err := parseAck(body)
			if err != nil || why.failed() {
				if err == nil {
					err = why
				}
				return true, err
			}
			if first&typeMask == typePubrec {
				return false, d.reply(typePubrel, id, 0)
			}
			released = true
			return back, nil
		case typePingresp:
			d.raw.SetReadDeadline(time.Now().Add(probeWait))
		}
		return false, nil
	})
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return errNothing
	}
	return err
}

// reach logs in once and asks what the broker is. A broker may end the connection of who asks that and has no right to; it is
// reached all the same.
func (s *session) reach(ctx context.Context) error {
	var asked error
	err := s.talk(ctx, "", func(d *exchange) error {
		s.welcome = d.welcome
		const topic = "$SYS/broker/version"
		found, err := d.retained(topic)
		s.product = found[topic]
		asked = err
		return nil
	})
	if ctx.Err() != nil && asked != nil {
		err = fmt.Errorf("mqtt: ask the broker for its version: %w", asked)
	}
	return err
}

// Provision implements driver.Session. Topics need no making. A message of the
// largest size that the driver sends to itself shows that the broker carries
// it and lets the user publish and subscribe; another one, if there are groups,
// that the broker has shared subscriptions.
func (s *session) Provision(ctx context.Context, t driver.Topology) (driver.Semantics, error) {
	fail := func(err error) (driver.Semantics, error) { return driver.Semantics{}, err }
	var topics []string
	for _, name := range t.Topics {
		topic, err := s.topic(name)
		if err != nil {
			return fail(err)
		}
		topics = append(topics, topic)
	}
	for _, group := range t.Groups {
		if err := checkName("group", group); err != nil {
			return fail(err)
		}
	}
	if t.MaxSize > maxRemaining-maxString {
		return fail(fmt.Errorf("mqtt: payloads of %d bytes: %w: MQTT carries packets of up to %d", t.MaxSize, driver.ErrTooLarge, maxRemaining))
	}
	topic := naming().Name(s.Target, "probe-"+s.Nonce)
	if s.Target.Given {
		topic = slices.MaxFunc(topics, func(a, b string) int { return len(a) - len(b) }) // Check has one at least
	}
	if most := s.welcome.maximumPacket; most > 0 && t.MaxSize+len(topic)+len(userProperties(t.Headers))+headMost > most {
		return fail(fmt.Errorf("mqtt: payloads of %d bytes: %w: the broker's maximum packet size is %d", t.MaxSize, driver.ErrTooLarge, most))
	}
	if len(t.Headers) > 0 && !s.options.v5() {
		return fail(fmt.Errorf("mqtt: option \"version\": %w: messages have headers from version 5 of the protocol on; choose it, or leave workload.headers out", driver.ErrOption))
	}
	if len(t.Groups) > 0 && !s.welcome.shared {
		return fail(fmt.Errorf("mqtt: groups: %w: the broker has no shared subscriptions", driver.ErrUnsupported))
	}
	if s.options.QoS > s.welcome.maximumQoS {
		return fail(fmt.Errorf("mqtt: publish with quality of service %d: %w: the broker's maximum is %d", s.options.QoS, driver.ErrUnsupported, s.welcome.maximumQoS))
	}
	if s.Target.Given {
		if s.options.Retain {
			return fail(fmt.Errorf("mqtt: option \"retain\": %w: it would replace what others have left at the topic", driver.ErrOption))
		}
		return s.semantics(), nil // a message to ourselves would be one to others
	}
	s.mu.Lock()
	s.topics = topics
	s.mu.Unlock()
	// One that is small first, which tells whether it is the size that fails.
	for _, size := range []int{1, t.MaxSize} {
		connected := false
		err := s.talk(ctx, "", func(d *exchange) error {
			connected = true
			return d.probe(topic, topic, size, s.options.QoS)
		})
		ended := connected && ctx.Err() == nil && driver.Class(err) == driver.ErrNotConnected
		switch {
		case err == nil:
		case size > 1 && (errors.Is(err, errNothing) || ended || errors.Is(err, driver.ErrTooLarge)):
			return fail(fmt.Errorf("mqtt: payloads of %d bytes: %w: the broker carries smaller ones, but not this (%w)", size, driver.ErrTooLarge, err))
		case errors.Is(err, errNothing):
			return fail(fmt.Errorf("mqtt: publish to %q: %w: the broker takes a message and does not deliver it; its permissions for the user may not allow to publish or to subscribe there", topic, driver.ErrForbidden))
		case ended && s.refusals() == driver.RefusalsSilent: // the only way in which it can refuse
			return fail(fmt.Errorf("mqtt: publish to %q: %w: the broker ends the connection; its permissions for the user may not allow to publish there (%v)", topic, driver.ErrForbidden, err))
		default:
			return fail(fmt.Errorf("mqtt: publish to %q: %w", topic, err))
		}
	}
	if len(t.Groups) > 0 {
		err := s.talk(ctx, "", func(d *exchange) error { return d.probe("$share/"+t.Groups[0]+"/"+topic, topic, 1, s.options.QoS) })
		if errors.Is(err, errNothing) {
			err = fmt.Errorf("%w: the broker takes a shared subscription and delivers nothing to it", driver.ErrUnsupported)
		}
		if err != nil {
			return fail(fmt.Errorf("mqtt: groups: %w", err))
		}
	}
	return s.semantics(), nil
}

// Deprovision implements driver.Session. It ends the sessions that outlive
// connections, and clears retained messages.
func (s *session) Deprovision(ctx context.Context) error {
	s.mu.Lock()
	kept, topics := s.kept, s.topics
	s.mu.Unlock()
	var errs []error
	for _, c := range kept {
		err := c.Shut(ctx) // a consumer that is still connected would take its session up again
		if err == nil {
			err = s.talk(ctx, c.link.id, func(*exchange) error { return nil })
		}
		if err != nil {
			errs = append(errs, &driver.Left{What: "session", Name: c.link.id, Err: fmt.Errorf("mqtt: end the session of %q: %w", c.link.id, err)})
		}
	}
	if s.options.Retain && len(topics) > 0 {
		if err := s.talk(ctx, "", func(d *exchange) error {
			var packets []byte
			for _, topic := range topics {
				packets = appendPublish(packets, publication{v5: d.link.v5, flags: flagRetain, topic: topic}, nil)
			}
			if err := d.writer.Write(append(packets, typePingreq, 0)); err != nil {
				return err
			}
			return d.until(func(first byte, _ []byte) (bool, error) { return first&typeMask == typePingresp, nil })
		}); err != nil {
			errs = append(errs, driver.LeaveAll(fmt.Errorf("mqtt: clear retained messages: %w", err), "retained message", topics)...)
		}
	}
	s.mu.Lock()
	s.kept, s.topics = nil, nil
	s.mu.Unlock()
	return errors.Join(errs...)
}

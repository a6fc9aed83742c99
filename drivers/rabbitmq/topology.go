package rabbitmq

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"sixnines/driver"
	"sixnines/drivers/internal/rabbit"
	"sixnines/drivers/rabbitmq/wire"
)

// sinkLength is how many messages a queue without consumers keeps.
const sinkLength = 1000

// The bytes that a stream without consumers keeps, and those of its segments: it drops
// whole segments.
const (
	sinkBytes   = 64 << 20
	sinkSegment = 16 << 20
)

// queue is one to be declared, with the topics whose messages it takes.
type queue struct {
	name   string
	topics []string
	args   wire.Table
}

// topology is what a session has made at the broker. Its methods are safe for
// concurrent use.
type topology struct {
	options *Options
	target  driver.Target

	mu        sync.Mutex
	exchanges []string // topics
	queues    []queue
	keep      bool     // nothing of them is deleted
	existing  bool     // they are not made, but looked for
	sinks     bool     // of a reading session: the run has no consumers, whose queues these replace
	made      []string // queues and exchanges that are at the broker, as far as is known
	others    []string // queues to delete that others of the run may have made
}

// checkName refuses names that would be parts of others.
func checkName(what, name string) error {
	if name == "" || len(name) > 100 || strings.ContainsAny(name, "/\x00\r\n") {
		return fmt.Errorf("rabbitmq: %s %q: %w: names have 1 to 100 bytes, and no slashes or line ends", what, name, driver.ErrUnsupported)
	}
	return nil
}

// checkTopic refuses names of topics that would be parts of others.
func (s *session) checkTopic(topic string) error {
	if s.Target.Given {
		return nil // Provision has looked at it
	}
	return checkName("topic", topic)
}

func (t *topology) prefix() string { return rabbit.Naming().Name(t.target) }

// place returns the exchange and the routing key of a topic of the operator's, between which
// its last slash is. A queue is reached by its name over the exchange without a name; before
// one with slashes in its name there is another slash.
func place(topic string) (exchange, key string) {
	if i := strings.LastIndexByte(topic, '/'); i > 0 && topic[0] != '/' {
		return topic[:i], topic[i+1:]
	}
	return "", strings.TrimPrefix(topic, "/")
}

// checkGiven refuses what cannot be had of topics of the operator's: queues are not made, and
// what a queue has goes to one of its consumers.
func checkGiven(want driver.Topology) error {
	refuse := func(what, why string) error {
		return fmt.Errorf("rabbitmq: topic %q: %w: %s", what, driver.ErrUnsupported, why)
	}
	for _, topic := range want.Topics {
		switch exchange, key := place(topic); {
		case len(topic) > 255 || strings.ContainsAny(topic, "\x00\r\n"):
			return refuse(topic, "names have up to 255 bytes, and no line ends")
		case exchange == "" && len(want.Groups) > 0 && !slices.Equal(want.Groups, []string{key}):
			return refuse(topic, "it is a queue, so that its consumers are of the group "+key+", and of no other")
		case exchange != "" && len(want.Groups) == 0 && want.Consumers > 0:
			return refuse(topic, "it is an exchange with a key, and no queue is made; name the queue that they lead to as a group (--group)")
		}
	}
	if len(want.Groups) == 0 && want.Consumers > len(want.Topics) {
		return refuse(want.Topics[0], "a queue gives each message to one of its consumers, and these would each want all; name the queue as a group, too (--group)")
	}
	return nil
}

// exchange returns the name of the topic's exchange; empty: the default one.
func (t *topology) exchange(topic string) string {
	if t.target.Given {
		exchange, _ := place(topic)
		return exchange
	}
	if t.options.Exchange == noExchange {
		return ""
	}
	return t.prefix() + "/" + topic
}

// groupQueue returns the name of the queue that a group shares.
func (t *topology) groupQueue(topic, group string) string {
	if t.target.Given {
		_, queue := place(topic)
		return cmp.Or(group, queue)
	}
	if t.options.Exchange == noExchange {
		return t.prefix() + "/" + topic
	}
	return t.prefix() + "/" + topic + "/" + group
}

// ownQueue returns the name of the queue of a consumer on its own.
func (t *topology) ownQueue(id int) string { return fmt.Sprintf("%s//consumer-%d", t.prefix(), id) }

func (t *topology) sink(topic string) string { return t.prefix() + "/" + topic + "//sink" }

// envelope returns what messages of the topic are sent in.
func (t *topology) envelope(topic string) wire.Envelope {
	o := t.options
	e := wire.Envelope{Exchange: t.exchange(topic), Key: o.RoutingKey, Mandatory: o.Mandatory, Immediate: o.Immediate, Persistent: o.Persistent}
	switch {
	case t.target.Given:
		_, e.Key = place(topic)
		return e
	case o.Exchange == noExchange:
		e.Key = t.groupQueue(topic, "")
	case e.Key == "":
		e.Key = topic
	}
	if o.Exchange == "headers" {
		e.Headers = wire.Table{"topic": topic}
	}
	return e
}

func (t *topology) bindingKey(topic string) string {
	switch o := t.options; {
	case o.BindingKey != "":
		return o.BindingKey
	case o.RoutingKey != "":
		return o.RoutingKey
	}
	return topic
}

// args returns the arguments of queues, over those that more names.
func (t *topology) args(more wire.Table) wire.Table {
	args := maps.Clone(more)
	if args == nil {
		args = wire.Table{}
	}
	asked, _ := t.options.queueArguments() // checked when the session was opened
	maps.Copy(args, asked)
	return args
}

// plan notes what a run with the topology needs.
func (t *topology) plan(want driver.Topology) error {
	if t.target.Given {
		return t.planGiven(want)
	}
	for _, topic := range want.Topics {
		if err := checkName("topic", topic); err != nil {
			return err
		}
	}
	for _, group := range want.Groups {
		if err := checkName("group", group); err != nil {
			return err
		}
	}
	groups := want.Groups
	if (want.Keep || want.Existing || want.Late) && len(groups) == 0 && t.options.Exchange != noExchange {
		return fmt.Errorf("rabbitmq: messages that are kept, without a group: %w: the queue of a consumer on its own comes and goes with it; set workload.groups to 1", driver.ErrUnsupported)
	}
	if t.options.Exchange == noExchange {
		if len(groups) > 1 || len(groups) == 0 && want.Consumers > 1 {
			return fmt.Errorf("rabbitmq: exchange default with several consumers, or groups, that each get every message: %w: without an exchange a topic has one queue; choose another exchange, or one group", driver.ErrUnsupported)
		}
		if len(groups) == 0 {
			groups = []string{""} // the one consumer's
		}
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.keep, t.existing = want.Keep, want.Existing
	if t.options.Exchange != noExchange {
		t.exchanges = append(t.exchanges, want.Topics...)
	}
	for _, topic := range want.Topics {
		if want.Consumers == 0 && !want.Keep && !want.Existing {
			name := t.sink(topic)
			if t.options.Exchange == noExchange {
				name = t.groupQueue(topic, "")
			}
			limits := wire.Table{"x-max-length": int64(sinkLength)}
			if t.options.QueueType == stream {
				limits = wire.Table{"x-max-length-bytes": int64(sinkBytes), "x-stream-max-segment-size-bytes": int64(sinkSegment)}
			}
			if want.ReadBack {
				limits = nil // a limit would remove messages that are read back
			}
			t.queues = append(t.queues, queue{name, []string{topic}, t.args(limits)})
			continue
		}
		for _, group := range groups {
			t.queues = append(t.queues, queue{t.groupQueue(topic, group), []string{topic}, t.args(nil)})
		}
	}
	// Consumers that were not closed leave their queues.
	for id := range want.Consumers {
		t.others = append(t.others, t.ownQueue(id))
	}
	return nil
}

// planGiven notes the queues of the operator's that a run with the topology needs. They are
// looked for, and left.
func (t *topology) planGiven(want driver.Topology) error {
	if err := checkGiven(want); err != nil {
		return err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.keep, t.existing = true, true
	for _, topic := range want.Topics {
		if exchange, key := place(topic); exchange == "" {
			t.queues = append(t.queues, queue{key, []string{topic}, nil})
			continue
		}
		t.exchanges = append(t.exchanges, topic)
		for _, group := range want.Groups {
			if !slices.ContainsFunc(t.queues, func(q queue) bool { return q.name == group }) {
				t.queues = append(t.queues, queue{group, want.Topics, nil})
			}
		}
	}
	return nil
}

// isExisting reports whether what is noted is not made, but looked for.
func (t *topology) isExisting() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.existing
}

// declare makes all that is noted.
func (t *topology) declare(ctx context.Context, ch *wire.Channel) error {
	t.mu.Lock()
	exchanges, queues, existing := slices.Clone(t.exchanges), slices.Clone(t.queues), t.existing
	t.mu.Unlock()
	if existing {
		for _, topic := range exchanges {
			if err := ch.CheckExchange(ctx, t.exchange(topic)); err != nil {
				return wrap(err, "look for exchange %q", t.exchange(topic))
			}
		}
		for _, q := range queues {
			if _, err := ch.CheckQueue(ctx, q.name); err != nil {
				return wrap(err, "look for queue %q", q.name)
			}
			t.note(q.name, nil)
		}
		for _, topic := range exchanges {
			t.note(t.exchange(topic), nil)
		}
		return nil
	}
	for _, topic := range exchanges {
		name := t.exchange(topic)
		err := ch.DeclareExchange(ctx, name, t.options.Exchange, t.options.Durable)
		if t.note(name, err); err != nil {
			return wrap(err, "declare exchange %q", name)
		}
	}
	for _, q := range queues {
		if err := t.declareQueue(ctx, ch, q); err != nil {
			return err
		}
	}
	return nil
}

func (t *topology) declareQueue(ctx context.Context, ch *wire.Channel, q queue) error {
	err := ch.DeclareQueue(ctx, q.name, t.options.Durable, q.args)
	if t.note(q.name, err); err != nil {
		err = wrap(err, "declare %s queue %q", t.options.QueueType, q.name)
		if errors.Is(err, driver.ErrRejected) {
			err = fmt.Errorf("%w; check queue_arguments", err)
		}
		return err
	}
	if t.options.Exchange == noExchange {
		return nil
	}
	var match wire.Table
	for _, topic := range q.topics {
		if t.options.Exchange == "headers" {
			match = wire.Table{"x-match": "all", "topic": topic}
		}
		if err := ch.Bind(ctx, q.name, t.bindingKey(topic), t.exchange(topic), match); err != nil {
			return wrap(err, "bind queue %q to %q", q.name, t.exchange(topic))
		}
	}
	return nil
}

// note notes that a queue or exchange was declared, or that it is not known whether it was, since the connection was lost.
func (t *topology) note(name string, err error) {
	if class := protocol().ClassOf(err); err != nil && class != driver.ErrNotConnected && class != driver.ErrTimeout {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if !slices.Contains(t.made, name) {
		t.made = append(t.made, name)
	}
}

// add declares the queue of a consumer on its own.
func (t *topology) add(ctx context.Context, ch *wire.Channel, q queue) error {
	t.mu.Lock()
	if !slices.ContainsFunc(t.queues, func(known queue) bool { return known.name == q.name }) {
		t.queues = append(t.queues, q)
	}
	t.mu.Unlock()
	return t.declareQueue(ctx, ch, q)
}

// remove deletes the queue of a consumer on its own.
func (t *topology) remove(ctx context.Context, a admin, name string) error {
	t.mu.Lock()
	t.queues = slices.DeleteFunc(t.queues, func(q queue) bool { return q.name == name })
	t.others = append(t.others, name) // should this fail
	t.mu.Unlock()
	return a.do(ctx, func(ch *wire.Channel) error { return ch.DeleteQueue(ctx, name) })
}

// destinations returns the queues that there are now.
func (t *topology) destinations() (all []driver.Destination) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, q := range t.queues {
		d := driver.Destination{Name: q.name}
		if len(q.topics) == 1 {
			d.Topic = q.topics[0]
		}
		all = append(all, d)
	}
	return all
}

// left returns the queues and exchanges that must be deleted.
func (t *topology) left() (queues, exchanges []string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.keep {
		return nil, nil
	}
	for _, q := range t.queues {
		if slices.Contains(t.made, q.name) {
			queues = append(queues, q.name)
		}
	}
	queues = append(queues, t.others...)
	slices.Sort(queues)
	for _, topic := range t.exchanges {
		if name := t.exchange(topic); slices.Contains(t.made, name) {
			exchanges = append(exchanges, name)
		}
	}
	return slices.Compact(queues), exchanges
}

// delete deletes the leftovers and forgets them. Each refusal ends a channel.
func (t *topology) delete(ctx context.Context, a admin, queues, exchanges []string) error {
	t.mu.Lock()
	t.queues, t.exchanges, t.others, t.made = nil, nil, nil, nil // before: a consumer that loses its queue has all declared again
	t.mu.Unlock()
	var errs []error
	for _, name := range queues {
		err := a.do(ctx, func(ch *wire.Channel) error { return ch.DeleteQueue(ctx, name) })
		if errors.Is(protocol().ClassOf(err), driver.ErrForbidden) && !a.hasQueue(ctx, name) {
			continue // the broker checks rights first: nobody has made it
		}
		errs = append(errs, driver.LeaveAll(wrap(err, "delete queue %q", name), "queue", []string{name})...)
	}
	for _, name := range exchanges {
		err := a.do(ctx, func(ch *wire.Channel) error { return ch.DeleteExchange(ctx, name) })
		errs = append(errs, driver.LeaveAll(wrap(err, "delete exchange %q", name), "exchange", []string{name})...)
	}
	return errors.Join(errs...)
}

package mesh

import (
	"fmt"

	"sixnines/driver"
)

// Line names a socket that sends. All publishers of a connection have one in
// common; of pushers those of a topic, since what is pushed does not name it.
type Line struct {
	Conn  int
	Topic string // that is pushed; empty: the socket publishes
}

// lineOf returns the line of a producer, and what each of its messages begins
// with.
func lineOf(spec driver.ProducerSpec, pushes bool) (l Line, head string) {
	if pushes {
		return Line{spec.Conn, spec.Topic}, ""
	}
	return Line{Conn: spec.Conn}, prefix(spec.Topic)
}

// Keys returns the keys by which the line's socket meets others.
func (l Line) Keys() []string {
	if l.Topic != "" {
		return pushed(l.Topic)
	}
	return published()
}

// checkPushed refuses a topology whose messages cannot be pushed. instead is the
// driver that publishes them.
func checkPushed(t driver.Topology, instead string) error {
	if len(t.Groups) > 1 {
		return fmt.Errorf("%d groups: %w: a pushed message goes to one consumer; use one group, or driver %s", len(t.Groups), driver.ErrUnsupported, instead)
	}
	if t.Consumers == 0 {
		return fmt.Errorf("%w: without consumers nothing can be pushed; use pattern deliver or roundtrip, or driver %s", driver.ErrUnsupported, instead)
	}
	return nil
}

// prefix is what published messages of a topic begin with, whose name therefore
// has no zero byte.
func prefix(topic string) string { return topic + "\x00" }

// published returns the key by which publishers and subscribers meet.
func published() []string { return []string{"publish"} }

// pushed returns the keys by which pushers of topics and those who pull meet.
func pushed(topics ...string) []string { return each("push ", topics) }

// requested returns the keys by which requesters and responders of topics meet.
func requested(topics ...string) []string { return each("request ", topics) }

func each(what string, topics []string) []string {
	var keys []string
	for _, topic := range topics {
		keys = append(keys, what+topic)
	}
	return keys
}

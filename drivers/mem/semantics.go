package mem

import (
	"fmt"
	"strings"

	"sixnines/driver"
	"sixnines/semantics"
)

// semantics states what the broker promises. If options make it misbehave, the warnings
// say so.
func (s *session) semantics() driver.Semantics {
	o := &s.options
	sem := driver.Semantics{
		Levels: semantics.Levels{Durability: semantics.Memory, Replication: semantics.Replication{Level: semantics.OneCopy},
			Ordering: semantics.PerTopic, Delivery: semantics.AtMostOnce},
		Client:         semantics.Client{Kind: semantics.Direct},
		Server:         driver.Server{Product: "mem, a broker inside the load generator"},
		Durability:     "memory, of the load generator's process",
		Replication:    "none",
		Acknowledgment: "none",
		Ordering:       "per producer and topic",
		Delivery:       "at most once",
		Batching:       "none",
		Consumption:    fmt.Sprintf("push, %d messages queued", o.Queue),
		Transport:      "memory",
		Settings:       map[string]string{},
	}
	if o.acknowledges() {
		sem.Acknowledgment = "in the queues of all its consumers"
	}
	if o.Sync {
		sem.Consumption = "push, on the sender's thread"
	}
	for _, option := range driver.DescribeOptions(o) {
		sem.Settings[option.Name] = option.Default // the values that o holds
	}
	if told := o.misbehaviour(); len(told) > 0 {
		sem.Warnings = []string{"the broker is set to misbehave (" + strings.Join(told, ", ") + "): this run tests the tool"}
	}
	return sem
}

// misbehaviour names the options that are no broker's.
func (o *Options) misbehaviour() []string {
	var told []string
	for _, c := range o.counts() {
		if c.n > 0 {
			told = append(told, fmt.Sprintf("%s %d", c.fault, c.n))
		}
	}
	if o.Delay > 0 {
		told = append(told, fmt.Sprintf("delay %v", o.Delay))
	}
	if o.SlowDelay > 0 {
		told = append(told, fmt.Sprintf("slow_delay %v", o.SlowDelay))
	}
	if o.Jitter > 0 {
		told = append(told, fmt.Sprintf("jitter %v", o.Jitter))
	}
	if o.AckDelay > 0 {
		told = append(told, fmt.Sprintf("ack_delay %v", o.AckDelay))
	}
	if o.StallFor > 0 {
		told = append(told, fmt.Sprintf("stall_for %v", o.StallFor))
	}
	if o.DisconnectFor > 0 {
		told = append(told, fmt.Sprintf("disconnect_for %v of %s", o.DisconnectFor, o.Disconnect))
	}
	return told
}

package scenario

import (
	"fmt"
	"math"
	"time"
)

// ConnectAs says what a connection that is opened and closed is for.
type ConnectAs string

// The values of Connections.As.
const (
	ConnectConsumer ConnectAs = "consumer" // it subscribes, to a topic that gets no messages
	ConnectProducer ConnectAs = "producer" // it only logs in, and declares what a producer must
)

// defaultHold is how long a connection stays open.
const defaultHold = 10 * time.Second

// Churn reports whether connections are opened and closed beside those of the load's messages.
func (c *Connections) Churn() bool { return !c.Rate.IsZero() }

// fillChurn fills in the defaults of connections that are opened and closed.
func (c *Connections) fillChurn() {
	if c.Churn() {
		fill(&c.Hold, defaultHold)
		fill(&c.As, ConnectConsumer)
	}
}

// churn checks what is said of connections that are opened and closed.
func (v *validator) churn() {
	const rate = "workload.connections.rate"
	c := &v.s.Workload.Connections
	if !c.Churn() {
		v.refuse(c.Hold != 0, "connections that are held open, and none that are opened", "give "+rate+" (--connection-rate), such as 50/s", "workload.connections.hold")
		v.refuse(c.As != "", "what connections are for, and none that are opened", "give "+rate+" (--connection-rate), such as 50/s", "workload.connections.as")
		return
	}
	if c.Rate.IsMax() {
		v.fail("connections without a schedule", "give a number a second, such as 50/s", rate)
		return
	}
	if n := c.Rate.Float() * c.Hold.Seconds(); n > maxEachConnections {
		v.fail(fmt.Sprintf("%d connections would be open at a time", int64(math.Ceil(n))), fmt.Sprintf("an address has ports for fewer: keep rate × hold at %d or less", maxEachConnections), rate, "workload.connections.hold")
	}
	v.refuse(v.s.Target.Topic != "" && c.As == ConnectConsumer, "connections that subscribe, and only topics that exist: they would get their messages",
		"set workload.connections.as: producer (--connection-as producer), which subscribes to nothing", "workload.connections.as", rate, "target.topic")
}

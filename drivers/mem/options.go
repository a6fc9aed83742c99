package mem

import (
	"fmt"
	"time"

	"sixnines/driver"
)

// Options are the options of the driver, see driver.DecodeOptions. All but the
// first four are for misbehaviour.
//
// Lose and the other counts of faults are exact: of the messages that the
// session's producers send from the beginning of the measured window on, the first
// After are left alone (as are all before the window, unless Begin says otherwise), and
// then the faults are spread, one in each Every messages, at places and in an order that Seed
// decides. Each hits a message of its own; on behalf of a message, all its
// consumers. A session of After + Every × the sum of the counts messages, and
// some more for good measure, therefore has all of them.
type Options struct {
	Ack        string          `option:"ack" enum:"none,broker" doc:"whether the broker acknowledges messages"`
	Sync       bool            `option:"sync" doc:"deliver inside Send, on the sender's thread and without a copy: the least that a driver can cost; consumers must not wait for what the same sender sends later"`
	Queue      int             `option:"queue" min:"1" max:"1048576" doc:"messages that wait for one consumer, or acknowledgements for one producer, until Send blocks"`
	MaxPayload driver.ByteSize `option:"max_payload" min:"1" doc:"largest message that the broker carries"`

	Seed  uint64 `option:"seed" doc:"decides which messages are hit, and how long jitter is"`
	After uint64 `option:"after" doc:"messages from the beginning that no fault hits"`
	Begin string `option:"begin" enum:"window,open" doc:"where the beginning is, from which faults, stall_after, slow_after and disconnect_after count, and messages have jitter: at each producer's first message of the measured window, or of the session"`
	Every uint64 `option:"every" min:"1" max:"1000000000" doc:"one fault in this many messages, until all faults are made"`

	Lose      int `option:"lose" min:"0" max:"1000000" doc:"messages to lose on the way to the broker: no consumer gets them, and where the broker acknowledges, the acknowledgement times out"`
	Duplicate int `option:"duplicate" min:"0" max:"1000000" doc:"messages to deliver twice"`
	Reorder   int `option:"reorder" min:"0" max:"1000000" doc:"messages to deliver after the next one of their producer, without which they are lost"`
	Corrupt   int `option:"corrupt" min:"0" max:"1000000" doc:"messages to deliver with one bit flipped"`

	DamageTwin int `option:"damage_twin" min:"0" max:"1000000" doc:"messages to deliver twice, first with one bit flipped and then whole"`

	CorruptWhere   string `option:"corrupt_where" enum:"body,head,any" doc:"where the bit is flipped: the head is the first 32 bytes, which hold the envelope; a message without a body is hit in its head"`
	MarkDuplicates bool   `option:"mark_duplicates" doc:"the second copy of a duplicate is marked as redelivered"`

	LoseAcked int `option:"lose_acked" min:"0" max:"1000000" doc:"messages to acknowledge and lose; needs ack: broker"`
	Nack      int `option:"nack" min:"0" max:"1000000" doc:"messages that the broker refuses by a negative acknowledgement; needs ack: broker"`
	Misreport int `option:"misreport" min:"0" max:"1000000" doc:"messages to deliver and yet refuse by a negative acknowledgement; needs ack: broker"`
	Reject    int `option:"reject" min:"0" max:"1000000" doc:"messages for which Send returns an error"`
	DoubleAck int `option:"double_ack" min:"0" max:"1000000" doc:"messages for which Done is called twice, against the contract of drivers"`
	AckLost   int `option:"ack_lost" min:"0" max:"1000000" doc:"messages for which Done is never called, against the contract of drivers"`

	Keep     bool `option:"keep" doc:"the broker keeps what it has taken until the run ends, to be read back"`
	Withhold int  `option:"withhold" min:"0" max:"1000000" doc:"messages to acknowledge, keep and never deliver; needs keep"`
	Forget   int  `option:"forget" min:"0" max:"1000000" doc:"messages to acknowledge and deliver, and not to keep; needs keep"`

	Delay    time.Duration `option:"delay" min:"0s" doc:"time that each message takes to its consumers"`
	Jitter   time.Duration `option:"jitter" min:"0s" doc:"random time of up to this in addition to delay; messages do not overtake each other"`
	AckDelay time.Duration `option:"ack_delay" min:"0s" doc:"time that each acknowledgement takes; needs ack: broker"`

	SlowAfter uint64        `option:"slow_after" doc:"messages from the beginning from which on delay is slow_delay"`
	SlowDelay time.Duration `option:"slow_delay" min:"0s" doc:"time that each message takes to its consumers from then on; 0s: delay, as before"`

	GiveUp time.Duration `option:"give_up" min:"0s" doc:"time until the acknowledgement of a lost message times out; needs ack: broker, and no sync"`

	StallAfter uint64        `option:"stall_after" doc:"messages from the beginning until the broker pauses for stall_for"`
	StallFor   time.Duration `option:"stall_for" min:"0s" doc:"how long the broker pauses, once; 0s: never"`

	Disconnect      string        `option:"disconnect" enum:"all,producers,consumers" doc:"whose connections are lost for disconnect_for; requesters count as producers and responders as consumers"`
	DisconnectAfter uint64        `option:"disconnect_after" doc:"messages from the beginning until connections are lost"`
	DisconnectEvery uint64        `option:"disconnect_every" doc:"messages, from when connections are back, until they are lost again; 0: they are lost once"`
	DisconnectFor   time.Duration `option:"disconnect_for" min:"0s" doc:"how long connections are lost: sends fail, acknowledgements on their way time out at once, and what is on its way to a consumer, or comes meanwhile, is lost; 0s: never"`
}

// The values of Options.Begin.
const (
	beginWindow = "window"
	beginOpen   = "open"
)

// DefaultOptions returns the defaults: a broker without a fault.
func DefaultOptions() Options {
	return Options{
		Ack:          string(driver.AckKindNone),
		Queue:        1024,
		MaxPayload:   64 << 20,
		Seed:         1,
		Begin:        beginWindow,
		Every:        10,
		CorruptWhere: "body",
		Disconnect:   string(everybody),
	}
}

func (o *Options) acknowledges() bool { return o.Ack == string(driver.AckKindBroker) }

// Validate refuses combinations that cannot be.
func (o *Options) Validate() error {
	for _, n := range []struct {
		name string
		set  bool
	}{
		{"lose_acked", o.LoseAcked > 0}, {"nack", o.Nack > 0}, {"misreport", o.Misreport > 0}, {"ack_delay", o.AckDelay > 0}, {"give_up", o.GiveUp > 0},
	} {
		if n.set && !o.acknowledges() {
			return fmt.Errorf("mem: %w", &driver.OptionError{Option: n.name, Cause: "there is no acknowledgement to tamper with; add ack: broker"})
		}
	}
	if o.Withhold+o.Forget > 0 && !o.Keep {
		return fmt.Errorf("mem: %w", &driver.OptionError{Option: "keep", Cause: "withhold and forget are about what is kept; add keep: true"})
	}
	for _, n := range []struct {
		name string
		set  bool
	}{
		{"delay", o.Delay > 0}, {"slow_delay", o.SlowDelay > 0}, {"jitter", o.Jitter > 0}, {"ack_delay", o.AckDelay > 0}, {"give_up", o.GiveUp > 0},
	} {
		if n.set && o.Sync {
			return fmt.Errorf("mem: %w", &driver.OptionError{Option: n.name, Cause: "it would hold up the sender; leave out sync, or delay"})
		}
	}
	return nil
}

// counts lists the faults to commit.
func (o *Options) counts() []count {
	return []count{
		{lose, o.Lose}, {duplicate, o.Duplicate}, {reorder, o.Reorder}, {corrupt, o.Corrupt},
		{loseAcked, o.LoseAcked}, {nack, o.Nack}, {misreport, o.Misreport}, {reject, o.Reject},
		{doubleAck, o.DoubleAck}, {ackLost, o.AckLost}, {withhold, o.Withhold}, {forget, o.Forget},
		{damageTwin, o.DamageTwin},
	}
}

// Adjust implements driver.Adjuster.
func (o *Options) Adjust(c *driver.Capabilities) { c.Ack, c.ReadsBack = driver.AckKind(o.Ack), o.Keep }

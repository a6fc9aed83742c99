package wire

import (
	"errors"
	"fmt"
	"time"
	"unicode/utf8"

	"sixnines/scenario"
)

// Plan is what an agent is to do: a scenario, which is deterministic from its text and seed, and which
// segment of it.
type Plan struct {
	Run      string  `json:"run"`
	Scenario string  `json:"scenario"` // YAML, normalised, with names of variables instead of secrets
	Segment  Segment `json:"segment"`
	// Sealed are the values of the scenario's variables, see [Seal], for this agent alone.
	Sealed []byte `json:"sealed,omitempty"`
	// Sender is the coordinator's public key, with which Sealed is opened.
	Sender string `json:"sender,omitempty"`
	// Shared says that the control plane may be the server under test.
	Shared bool `json:"shared,omitempty"`
	// Acts says that the coordinator carries out what the scenario has happen to more than the clients: the agent does not.
	Acts bool `json:"acts,omitempty"`
	// Patience is how long the agent waits at a point for the coordinator to let it go on.
	Patience time.Duration `json:"patience"`
	// Limit is how long the run may last from its start, warm-up and drain included. What goes on longer hangs.
	Limit time.Duration `json:"limit"`
}

// Segment is which part of the scenario an agent carries out.
type Segment struct {
	Number int `json:"number"` // from 0
	Of     int `json:"of"`
	// Detail is how the scenario is divided between the segments, as package division writes and reads it.
	Detail []byte `json:"detail,omitempty"`
}

// Kind implements [Message].
func (*Plan) Kind() Kind { return KindPlan }
func (*Plan) most() int  { return 2 * scenario.MaxText }

// Check implements [Message].
func (p *Plan) Check() error {
	switch {
	case len(p.Scenario) == 0 || len(p.Scenario) > scenario.MaxText:
		return fmt.Errorf("a scenario of %d bytes; 1 to %d", len(p.Scenario), scenario.MaxText)
	case !utf8.ValidString(p.Scenario):
		return errors.New("the scenario is not UTF-8")
	case len(p.Sealed) > MaxSealed:
		return fmt.Errorf("%d bytes of sealed values; at most %d", len(p.Sealed), MaxSealed)
	case (len(p.Sealed) == 0) != (p.Sender == ""):
		return errors.New("sealed values and the key that opens them belong together")
	case p.Patience < time.Second || p.Patience > time.Hour:
		return fmt.Errorf("a patience of %v; 1s to 1h", p.Patience)
	case p.Limit < time.Millisecond || p.Limit > 4*scenario.MaxDuration:
		return fmt.Errorf("a limit of %v; 1ms to %v", p.Limit, 4*scenario.MaxDuration)
	}
	return errors.Join(CheckRun(p.Run), checkText("the key", p.Sender, 0, maxWord), p.Segment.check())
}

func (s *Segment) check() error {
	switch {
	case s.Of < 1 || s.Of > MaxAgents || s.Number < 0 || s.Number >= s.Of:
		return fmt.Errorf("segment %d of %d; there are 1 to %d, numbered from 0", s.Number, s.Of, MaxAgents)
	case len(s.Detail) > MaxDetail:
		return fmt.Errorf("a division of %d bytes; at most %d", len(s.Detail), MaxDetail)
	}
	return nil
}

// Answer is what an agent says to a plan, or to another request.
type Answer struct {
	Refused Refusal `json:"refused,omitempty"` // empty: it does what was asked
	Why     string  `json:"why,omitempty"`     // for people
	// At is where the socket is that a [Peer] asked for.
	At string `json:"at,omitempty"`
}

// Refusal is why an agent does not do what was asked.
type Refusal string

// The refusals.
const (
	RefusedMalformed Refusal = "malformed" // it does not understand
	RefusedVersion   Refusal = "version"   // the other side has another version
	RefusedBusy      Refusal = "busy"      // it has a run
	RefusedForbidden Refusal = "forbidden" // what --allow, --allow-target and --max-rate do not allow, or no agent does
	RefusedInvalid   Refusal = "invalid"   // the scenario cannot be carried out
	RefusedUnknown   Refusal = "unknown"   // it has no such run
	RefusedFailed    Refusal = "failed"    // the machine does not let it, such as a full disk
)

// Kind implements [Message].
func (*Answer) Kind() Kind { return KindAnswer }
func (*Answer) most() int  { return 16 << 10 }

// Check implements [Message].
func (a *Answer) Check() error {
	if a.At != "" {
		if err := checkPeerAddress(a.At); err != nil {
			return err
		}
	}
	return errors.Join(checkText("the refusal", string(a.Refused), 0, maxWord), checkText("the reason", a.Why, 0, maxSentence))
}

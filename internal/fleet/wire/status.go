package wire

import (
	"errors"
	"fmt"
)

// State is what an agent does.
type State string

// The states of an agent.
const (
	Idle       State = "idle"       // it has no run
	Preparing  State = "preparing"  // from the plan to the start
	Running    State = "running"    // from the start to the end of the drain
	Delivering State = "delivering" // the run is over, and not all of its records are confirmed
)

// Ending is how an agent's run ended.
type Ending string

// The endings. The first four are stated by the agent, the others found by the coordinator.
const (
	Completed   Ending = "completed"   // as planned
	Interrupted Ending = "interrupted" // on request: its window ended early
	Left        Ending = "left"        // its machine or user ended the agent: its window ended early
	Failed      Ending = "failed"      // by an error
	Died        Ending = "died"        // it has not been heard of since
	Hung        Ending = "hung"        // it is heard of, and its run does not end
)

// Status is where an agent's run is. An agent sends it with each change and once a second.
type Status struct {
	ID    string `json:"id"`
	State State  `json:"state"`
	Run   string `json:"run,omitempty"`
	// Point is the last point that the run has come to.
	Point Point `json:"point,omitempty"`
	// Leads is, from the point Ready on, what the agent made at the system under test and of which that has a leader, if the plan
	// has actions on leaders and there is any.
	Leads *Destination `json:"leads,omitempty"`
	// Late is, once the run has started, how long after the common instant it did, on its own clock, ns.
	Late int64 `json:"late,omitempty"`
	// Records is how many records there are, and Delivered how many of them the stream has.
	Records   uint64 `json:"records,omitempty"`
	Delivered uint64 `json:"delivered,omitempty"`
	Ending    Ending `json:"ending,omitempty"` // once the run is over
	Why       string `json:"why,omitempty"`    // for people: why it ended so, or does not go on
	// Told is what it asked other agents since the last status, see [Peer].
	Told []Told `json:"told,omitempty"`
}

// Destination is a partition, a stream or a queue of the system under test.
type Destination struct {
	Name      string `json:"name"`
	Partition int    `json:"partition,omitempty"` // from 0
}

// Kind implements [Message].
func (*Status) Kind() Kind { return KindStatus }
func (*Status) most() int  { return 24 << 10 }

// Check implements [Message].
func (s *Status) Check() error {
	switch s.State {
	case Idle:
		if s.Run != "" {
			return errors.New("an idle agent with a run")
		}
	case Preparing, Running, Delivering:
		if err := CheckRun(s.Run); err != nil {
			return err
		}
	default:
		return fmt.Errorf("the state %.32q", string(s.State))
	}
	switch s.Ending {
	case "", Completed, Interrupted, Left, Failed:
	default:
		return fmt.Errorf("the ending %.32q", string(s.Ending))
	}
	if s.Point != "" {
		if err := s.Point.check(); err != nil {
			return err
		}
	}
	if d := s.Leads; d != nil {
		if err := checkText("the name of what has a leader", d.Name, 1, maxSentence); err != nil {
			return err
		}
		if d.Partition < 0 {
			return fmt.Errorf("partition %d", d.Partition)
		}
	}
	if s.Delivered > s.Records {
		return fmt.Errorf("%d of %d records delivered", s.Delivered, s.Records)
	}
	return errors.Join(checkID(s.ID), checkText("the reason", s.Why, 0, maxSentence), checkTold(s.Told))
}

package wire

import (
	"errors"
	"fmt"
	"time"
	"unicode/utf8"

	"sixnines/scenario"
)

// Manifest is what a run's stream says of the run, so that another coordinator can go on with it.
type Manifest struct {
	Run      string  `json:"run"`
	Scenario string  `json:"scenario"` // as in [Plan]
	Members  Members `json:"members"`
	// Clock is the coordinator's clock, see [Hello], and Start the common start on it, ns.
	Clock string `json:"clock"`
	Start int64  `json:"start"`
	// Limit is how long after the start the run may last, and Patience for how long an agent may be silent, ns.
	Limit    int64 `json:"limit"`
	Patience int64 `json:"patience"`
	// Note is what the collector of another coordinator needs to know, as that of this one writes it.
	Note []byte `json:"note,omitempty"`
}

// Members are the agents of a run.
type Members []Member

// Member is an agent of a run.
type Member struct {
	Hello   Hello   `json:"hello"`
	Segment Segment `json:"segment"`
	// Offset is the agent's clock less the coordinator's when the start was given, ns; the true one is
	// within Offset ± Bound. With one clock both are 0.
	Offset int64 `json:"offset,omitempty"`
	Bound  int64 `json:"bound,omitempty"`
}

// UnmarshalJSON implements json.Unmarshaler.
func (m *Members) UnmarshalJSON(text []byte) (err error) {
	*m, err = list[Member](text, MaxAgents)
	return err
}

// Kind implements [Message].
func (*Manifest) Kind() Kind { return KindManifest }
func (*Manifest) most() int  { return MaxRecord }

// Check implements [Message].
func (m *Manifest) Check() error {
	switch {
	case len(m.Scenario) == 0 || len(m.Scenario) > scenario.MaxText || !utf8.ValidString(m.Scenario):
		return fmt.Errorf("a scenario of %d bytes", len(m.Scenario))
	case len(m.Members) == 0 || len(m.Members) > MaxAgents:
		return fmt.Errorf("%d agents; 1 to %d", len(m.Members), MaxAgents)
	case m.Start <= 0 || m.Limit <= 0 || m.Limit > int64(4*scenario.MaxDuration):
		return fmt.Errorf("a start at %d and a limit of %d ns", m.Start, m.Limit)
	case m.Patience < int64(time.Second) || m.Patience > int64(time.Hour):
		return fmt.Errorf("a patience of %d ns", m.Patience)
	case len(m.Note) > scenario.MaxText:
		return fmt.Errorf("a note of %d bytes; at most %d", len(m.Note), scenario.MaxText)
	}
	for i := range m.Members {
		x := &m.Members[i]
		if err := errors.Join(x.Hello.Check(), x.Segment.check()); err != nil {
			return fmt.Errorf("agent %d: %w", i, err)
		}
		if x.Bound < 0 {
			return fmt.Errorf("agent %d: a bound of %d ns", i, x.Bound)
		}
	}
	return errors.Join(CheckRun(m.Run), checkText("the clock", m.Clock, 1, 2*maxWord))
}

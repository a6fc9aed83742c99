package wire

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
)

// Protocol is the version of this package's messages and subjects.
const Protocol = 1

// ErrMalformed is wrapped by errors about messages that nothing of this version sends.
var ErrMalformed = errors.New("not a message of this protocol")

// Kind is what a message is about.
type Kind string

// The kinds.
const (
	KindHello    Kind = "hello"    // an agent: what it is and allows
	KindPlan     Kind = "plan"     // coordinator to agent: what to do
	KindAnswer   Kind = "answer"   // agent to coordinator: whether it does
	KindGo       Kind = "go"       // coordinator to agent: go on at a point
	KindClock    Kind = "clock"    // coordinator to agent: how its clock differs from the run's
	KindStop     Kind = "stop"     // anybody to agent: end the run
	KindConfirm  Kind = "confirm"  // coordinator to agent: all records are in the result
	KindAsk      Kind = "ask"      // anybody to agent: what do you do
	KindStatus   Kind = "status"   // agent to all: where its run is
	KindStamps   Kind = "stamps"   // agent to coordinator: how its clock is to the control plane's
	KindPulse    Kind = "pulse"    // coordinator to all: it is there
	KindManifest Kind = "manifest" // coordinator to the stream: what the run is
	KindPeer     Kind = "peer"     // coordinator to agent: ask another agent's clock
)

// Message is a message of one kind. Its JSON form is its body.
type Message interface {
	Kind() Kind
	// Check returns what is out of range in it.
	Check() error
	// most is the longest encoded form, envelope included, in bytes.
	most() int
}

// envelope is what surrounds a message.
type envelope struct {
	Protocol int             `json:"protocol"`
	Version  string          `json:"version"` // of the program that sends
	Kind     Kind            `json:"kind"`
	Body     json.RawMessage `json:"body"`
}

// Skew is the error about a message of another version.
type Skew struct {
	Here, There                 string // the programs' versions
	HereProtocol, ThereProtocol int
}

func (s *Skew) Error() string {
	if s.Here == s.There {
		return fmt.Sprintf("the other side speaks protocol %d of version %s, this side protocol %d: use the same program on all machines", s.ThereProtocol, s.There, s.HereProtocol)
	}
	return fmt.Sprintf("the other side is sixnines %s, this side is sixnines %s: use the same version on all machines", s.There, s.Here)
}

// Encode returns a message of a program of this version.
func Encode(version string, m Message) ([]byte, error) {
	text, err := encode(version, m)
	switch {
	case err != nil:
		return nil, err
	case len(text) > m.most():
		return nil, fmt.Errorf("a %s of %d bytes; at most %d", m.Kind(), len(text), m.most())
	}
	return text, nil
}

func encode(version string, m Message) ([]byte, error) {
	if err := checkVersion(version); err != nil {
		return nil, err
	}
	if err := m.Check(); err != nil {
		return nil, fmt.Errorf("%s: %w", m.Kind(), err)
	}
	body, err := json.Marshal(m)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", m.Kind(), err)
	}
	return json.Marshal(envelope{Protocol, version, m.Kind(), body})
}

// Decode reads a message of m's kind into m, which is a pointer to its zero value. version is
// this program's. The error is a [*Skew] if the other side has another version, and else wraps
// [ErrMalformed]; m is then unusable. Memory is in proportion to the longest message of the kind.
func Decode(version string, text []byte, m Message) error {
	kind, most := m.Kind(), m.most()
	if len(text) > most {
		return fmt.Errorf("%w: a %s of %d bytes; at most %d", ErrMalformed, kind, len(text), most)
	}
	var e envelope
	if err := json.Unmarshal(text, &e); err != nil {
		return fmt.Errorf("%w: %s: %w", ErrMalformed, kind, err)
	}
	if err := checkVersion(e.Version); err != nil {
		return fmt.Errorf("%w: %s: %w", ErrMalformed, kind, err)
	}
	switch {
	case e.Protocol != Protocol || e.Version != version:
		return &Skew{Here: version, There: e.Version, HereProtocol: Protocol, ThereProtocol: e.Protocol}
	case e.Kind != kind:
		return fmt.Errorf("%w: a %.32q instead of a %s", ErrMalformed, string(e.Kind), kind)
	}
	if err := json.Unmarshal(e.Body, m); err != nil {
		return fmt.Errorf("%w: %s: %w", ErrMalformed, kind, err)
	}
	again, err := encode(version, m)
	switch {
	case err != nil:
		return fmt.Errorf("%w: %w", ErrMalformed, err)
	case !bytes.Equal(again, text):
		return fmt.Errorf("%w: a %s that is written in another way than this version writes it", ErrMalformed, kind)
	}
	return nil
}

// list reads a JSON array of at most most elements. It reads one element after the other, so
// that a long array of small elements does not become much memory first.
func list[T any](text []byte, most int) ([]T, error) {
	d := json.NewDecoder(bytes.NewReader(text))
	if t, err := d.Token(); err != nil {
		return nil, err
	} else if t != json.Delim('[') {
		return nil, errors.New("not a list")
	}
	var all []T
	for d.More() {
		if len(all) == most {
			return nil, fmt.Errorf("more than %d elements", most)
		}
		var x T
		if err := d.Decode(&x); err != nil {
			return nil, err
		}
		all = append(all, x)
	}
	return all, nil
}

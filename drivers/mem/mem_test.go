package mem_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"sixnines/driver"
	"sixnines/drivers/mem"
)

func TestOpenRefuses(t *testing.T) {
	for _, test := range []struct {
		target driver.Target
		class  error
		want   string
	}{
		{driver.Target{URL: "mem://elsewhere"}, driver.ErrOption, "mem://"},
		{driver.Target{TLS: &driver.TLS{}}, driver.ErrUnsupported, "leave tls out"},
		{driver.Target{Options: map[string]any{"loose": 1}}, driver.ErrOption, "did you mean lose?"},
		{driver.Target{Options: map[string]any{"lose": -1}}, driver.ErrOption, "(0 to "},
		{driver.Target{Options: map[string]any{"ack": "maybe"}}, driver.ErrOption, "none, broker"},
		{driver.Target{Options: map[string]any{"queue": 0}}, driver.ErrOption, "queue"},
		{driver.Target{Options: map[string]any{"every": 0}}, driver.ErrOption, "every"},
		{driver.Target{Options: map[string]any{"lose_acked": 1}}, driver.ErrOption, "add ack: broker"},
		{driver.Target{Options: map[string]any{"nack": 1}}, driver.ErrOption, "add ack: broker"},
		{driver.Target{Options: map[string]any{"misreport": 1}}, driver.ErrOption, "add ack: broker"},
		{driver.Target{Options: map[string]any{"ack_delay": "1ms"}}, driver.ErrOption, "add ack: broker"},
		{driver.Target{Options: map[string]any{"sync": true, "delay": "1ms"}}, driver.ErrOption, "leave out sync"},
		{driver.Target{Options: map[string]any{"sync": true, "jitter": "1ms"}}, driver.ErrOption, "leave out sync"},
		{driver.Target{Options: map[string]any{"sync": true, "ack": "broker", "ack_delay": "1ms"}}, driver.ErrOption, "leave out sync"},
	} {
		test.target.Run = "r"
		_, err := mem.Entry().Driver.Open(t.Context(), test.target)
		if !errors.Is(err, test.class) || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%+v: %v", test.target, err)
		}
	}
	if _, err := mem.Entry().Driver.Open(t.Context(), driver.Target{}); driver.Class(err) == nil {
		t.Errorf("without a run: %v", err)
	}
}

func TestUnknownTopic(t *testing.T) {
	s := open(t, mem.New(), nil)
	_, err := s.Producer(t.Context(), driver.ProducerSpec{Topic: "t1"}, discard{})
	_, errC := s.Consumer(t.Context(), driver.ConsumerSpec{Topics: []string{"t0", "t1"}}, nil)
	p := connect(t, s, 0, discard{})
	if err := s.Deprovision(t.Context()); err != nil {
		t.Fatal(err)
	}
	for what, err := range map[string]error{"Producer": err, "Consumer": errC, "Send after Deprovision": p.Send(1, nil)} {
		if !errors.Is(err, driver.ErrNoTopic) {
			t.Errorf("%s: %v", what, err)
		}
	}
}

func TestConsumersDoNotAcknowledge(t *testing.T) {
	s := open(t, mem.New(), nil)
	_, err := s.Consumer(t.Context(), driver.ConsumerSpec{Topics: []string{"t0"}, Ack: driver.ConsumerAck{Mode: driver.AckEach}}, nil)
	if !errors.Is(err, driver.ErrUnsupported) {
		t.Errorf("consumer acknowledgements: %v", err)
	}
}

// Runs and brokers are worlds apart.
func TestTopicsBelongToRunAndBroker(t *testing.T) {
	b := mem.New()
	open(t, b, nil)
	if got := b.Topics("r"); !slices.Equal(got, []string{"t0"}) {
		t.Errorf("topics of the run: %q", got)
	}
	if got := append(b.Topics("other"), mem.New().Topics("r")...); len(got) > 0 {
		t.Errorf("topics of nobody: %q", got)
	}
}

// What a session will do is written down, with a warning if it is no broker's.
func TestSemanticsTell(t *testing.T) {
	b := mem.New()
	for _, test := range []struct {
		options map[string]any
		warning string
		ack     driver.AckKind
	}{
		{nil, "", driver.AckKindNone},
		{map[string]any{"ack": "broker"}, "", driver.AckKindBroker},
		{map[string]any{"lose": 17, "jitter": "1ms", "stall_for": "2s"}, "lose 17, jitter 1ms, stall_for 2s", driver.AckKindNone},
	} {
		s := open(t, b, test.options)
		sem, err := s.Provision(t.Context(), driver.Topology{Topics: []string{"t0"}})
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(sem.Warnings, ""); (got == "") != (test.warning == "") || !strings.Contains(got, test.warning) {
			t.Errorf("%v: warned %q", test.options, got)
		}
		if got := mem.Entry().With(test.options).Ack; got != test.ack {
			t.Errorf("%v: acknowledges %q", test.options, got)
		}
		for name := range test.options {
			if sem.Settings[name] == "" {
				t.Errorf("%v: the settings do not tell %s", test.options, name)
			}
		}
	}
}

// The default is a broker without fault, and options say what they are.
func TestDefaults(t *testing.T) {
	e := mem.Entry()
	for _, o := range driver.DescribeOptions(e.Options) {
		if o.Doc == "" {
			t.Errorf("option %s is not documented", o.Name)
		}
	}
	s, err := e.Driver.Open(t.Context(), driver.Target{URL: e.DefaultURL, Run: "r"})
	if err != nil {
		t.Fatal(err)
	}
	sem, err := s.Provision(t.Context(), driver.Topology{})
	if err != nil || len(sem.Warnings) > 0 {
		t.Errorf("%v, %v", sem.Warnings, err)
	}
	if err := s.Close(t.Context()); err != nil {
		t.Error(err)
	}
}

package coordinator_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"sixnines/internal/fleet/agent"
	"sixnines/internal/fleet/control"
	"sixnines/internal/fleet/coordinator"
	"sixnines/internal/fleet/wire"
)

// An agent that dies takes what it had not sent with it, and the run ends on time with what the others recorded.
func TestAnAgentDies(t *testing.T) {
	f := newFleet(t)
	all := stubs("a", "b")
	var dying *joined
	all[1].at = func(i int) {
		if i == 2 {
			until(t, "two of its records are in the stream", func() bool { return f.stored(t, "run-1", dying.hello.ID) >= 2 })
			dying.relay.cut()
		}
	}
	other := f.join(all[0])
	dying = f.join(all[1])
	c := &collected{}
	o, err := coordinator.Run(t.Context(), f.config(c, 2))
	if err != nil {
		t.Fatal(err)
	}
	if o.Complete() || o.Ends[0].Ending != wire.Completed || !slices.Equal(c.of["a"], whole("a")) {
		t.Errorf("the other one: %+v, %q", o.Ends[0], c.of["a"])
	}
	if e, got := o.Ends[1], c.of["b"]; e.Ending != wire.Died || len(got) < 2 || len(got) > 3 || !slices.Equal(got, whole("b")[:len(got)]) || !strings.Contains(e.Why, "heard") {
		t.Errorf("the dead one: %+v, %q", e, got)
	}
	f.idle(other)
	dying.leave()
	if err := <-dying.ended; err != nil {
		t.Error(err)
	}
	if len(dying.files()) == 0 {
		t.Error("what it had recorded and not delivered is gone")
	}
}

// An agent whose machine is gone, and of which the control plane still has the connection, is one that died: it keeps
// nobody waiting. An agent's pod that is deleted is one.
func TestAnAgentIsSilent(t *testing.T) {
	f := newFleet(t)
	all := stubs("a", "b")
	var silent *joined
	found := func() {}
	all[1].at = func(i int) {
		if i == 2 {
			until(t, "two of its records are in the stream", func() bool { return f.stored(t, "run-1", silent.hello.ID) >= 2 })
			found = silent.relay.lose()
		}
	}
	other := f.join(all[0])
	silent = f.join(all[1])
	c := &collected{}
	o, err := coordinator.Run(t.Context(), f.config(c, 2))
	if err != nil {
		t.Fatal(err)
	}
	if e, got := o.Ends[1], c.of["b"]; e.Ending != wire.Died || len(got) < 2 || !slices.Equal(got, whole("b")[:len(got)]) {
		t.Errorf("the silent one: %+v, %q", e, got)
	}
	if o.Ends[0].Ending != wire.Completed || !slices.Equal(c.of["a"], whole("a")) {
		t.Errorf("the other one: %+v, %q", o.Ends[0], c.of["a"])
	}
	f.idle(other)
	found()
	silent.leave()
	if err := <-silent.ended; err != nil {
		t.Error(err)
	}
}

// A coordinator that is parted from the control plane for longer than an agent may be silent hears nobody. When it is back, an agent
// that was done before is not let go on: it would remove the topics that the other one still reads.
func TestTheCoordinatorIsParted(t *testing.T) {
	f := newFleet(t)
	l := f.server.Login()
	_, address, _ := strings.Cut(l.URL, "://")
	path := newRelay(t, address)
	l.URL = "tls://" + path.address
	conn, err := wire.Connect(t.Context(), l, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	pulses, err := f.conn.SubscribeSync(wire.PulseSubject("run-1"))
	if err != nil {
		t.Fatal(err)
	}
	defer pulses.Unsubscribe()
	statuses, err := f.conn.SubscribeSync(wire.StatusSubject("run-1", "*"))
	if err != nil {
		t.Fatal(err)
	}
	defer statuses.Unsubscribe()
	var other string // the number of the agent that is done first
	config := f.config(&collected{}, 2)
	config.Conn, config.Patience, config.Limit = conn, 4*time.Second, 60*time.Second
	all := stubs("a", "b")
	all[1].at = func(i int) {
		if i != 1 {
			return
		}
		for said := 0; said < 2; { // twice: the coordinator has heard the first
			m, err := statuses.NextMsg(30 * time.Second)
			if err != nil {
				t.Errorf("the other one is not done: %v", err)
				return
			}
			if status := (wire.Status{}); wire.Decode(version, m.Data, &status) == nil && status.ID == other && status.Point == wire.Closed {
				said++
			}
		}
		found := path.lose()
		parted := config.Patience + time.Second
		time.Sleep(parted)
		for n, _, _ := pulses.Pending(); n > 0; n, _, _ = pulses.Pending() {
			_, _ = pulses.NextMsg(time.Second)
		}
		found()
		for range parted/time.Second + 4 { // first those come that it said meanwhile
			if _, err := pulses.NextMsg(30 * time.Second); err != nil {
				t.Errorf("the coordinator is not back: %v", err)
			}
		}
		if all[0].passed.Load() {
			t.Error("the one that is done was let go on while the other one measures")
		}
	}
	js := f.joinAll(all)
	other = js[0].hello.ID
	o, err := coordinator.Run(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	if !o.Complete() {
		t.Errorf("%+v", o.Ends)
	}
	f.idle(js...)
}

// stored is how many messages of an agent the stream has.
func (f *fleet) stored(t *testing.T, run, id string) uint64 {
	t.Helper()
	return f.messages(run, wire.RecordSubject(run, id))
}

// An agent that is parted for a while delivers when it is back, and nothing is missing or there twice.
func TestAnAgentIsParted(t *testing.T) {
	f := newFleet(t)
	all := stubs("a", "b")
	var parted *joined
	var healing sync.WaitGroup
	all[1].at = func(i int) {
		switch i {
		case 1:
			parted.relay.cut()
		case 4:
			healing.Go(func() { parted.relay.heal(t) })
		}
	}
	js := []*joined{f.join(all[0]), f.join(all[1])}
	parted = js[1]
	c := &collected{}
	config := f.config(c, 2)
	config.Limit = 20 * time.Second // the connection takes its time to be made anew
	o, err := coordinator.Run(t.Context(), config)
	healing.Wait()
	if err != nil {
		t.Fatal(err)
	}
	if !o.Complete() || !slices.Equal(c.of["a"], whole("a")) || !slices.Equal(c.of["b"], whole("b")) {
		t.Errorf("%+v, %q", o.Ends, c.of)
	}
	f.idle(js...)
}

// An agent whose machine ends it says so, and delivers what it has.
func TestAnAgentIsEvicted(t *testing.T) {
	f := newFleet(t)
	all := stubs("a", "b")
	var evicted *joined
	all[1].at = func(i int) {
		if i == 2 {
			evicted.leave()

		}
	}
	all[1].pace = 200 * time.Millisecond
	other := f.join(all[0])
	evicted = f.join(all[1])
	c := &collected{}
	o, err := coordinator.Run(t.Context(), f.config(c, 2))
	if err != nil {
		t.Fatal(err)
	}
	if e, got := o.Ends[1], c.of["b"]; e.Ending != wire.Left || e.Missing != 0 || len(got) < 3 || !slices.Equal(got, whole("b")[:len(got)]) || len(got) > intervals {
		t.Errorf("%+v, %q", e, got)
	}
	if o.Ends[0].Ending != wire.Completed {
		t.Errorf("the other one: %+v", o.Ends[0])
	}
	if err := <-evicted.ended; err != nil {
		t.Error(err)
	}
	f.idle(other)
}

// An agent whose run does not end is marked, and ends itself: it could measure nothing more.
func TestAnAgentHangs(t *testing.T) {
	f := newFleet(t)
	all := stubs("a", "b")
	all[1].hang = make(chan struct{})
	other, hanging := f.join(all[0]), f.join(all[1])
	c := &collected{}
	config := f.config(c, 2)
	config.Limit = time.Second
	o, err := coordinator.Run(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	if e := o.Ends[1]; e.Ending != wire.Hung || !slices.Equal(c.of["b"], whole("b")[:1]) {
		t.Errorf("%+v, %q", e, c.of["b"])
	}
	if o.Ends[0].Ending != wire.Completed || !slices.Equal(c.of["a"], whole("a")) {
		t.Errorf("the other one: %+v, %q", o.Ends[0], c.of["a"])
	}
	f.idle(other)
	hanging.leave()
	close(all[1].hang)
	<-hanging.ended
}

// Who joins when the run is divided takes no part in it, and is named.
func TestAnAgentJoinsLate(t *testing.T) {
	f := newFleet(t)
	all := stubs("a", "b")
	js := []*joined{f.join(all[0])}
	c := &collected{}
	all[0].at = func(i int) {
		if i == 1 {
			js = append(js, f.join(all[1]))
		}
	}
	o, err := coordinator.Run(t.Context(), f.config(c, 0))
	if err != nil {
		t.Fatal(err)
	}
	if len(o.Late) != 1 || o.Late[0].Name != "b" || len(o.Ends) != 1 || !o.Complete() {
		t.Errorf("%+v", o)
	}
	f.idle(js...)
}

// Of two agents of one name the second one is not let in.
func TestAnAgentJoinsTwice(t *testing.T) {
	f := newFleet(t)
	all := stubs("a", "a")
	f.join(all[0])
	second := f.try(all[1])
	if err := <-second.ended; !errors.Is(err, agent.ErrTwice) || !strings.Contains(err.Error(), "another name") {
		t.Error(err)
	}
	c := &collected{}
	if o, err := coordinator.Run(t.Context(), f.config(c, 0)); err != nil || !o.Complete() || len(o.Ends) != 1 {
		t.Errorf("%+v, %v", o, err)
	}
}

func TestStrangersDoNotJoin(t *testing.T) {
	f := newFleet(t)
	elsewhere, err := control.Start(t.Context(), control.Options{Dir: t.TempDir(), Host: "127.0.0.1"})
	if err != nil {
		t.Fatal(err)
	}
	pin := elsewhere.Login().Pin
	elsewhere.Close()
	for name, change := range map[string]func(*agent.Config){
		"wrong token": func(c *agent.Config) { c.Login.Token = "wrong" },
		"wrong pin":   func(c *agent.Config) { c.Login.Pin = pin },
	} {
		j := f.try(&stub{name: "a"}, change)
		if err := <-j.ended; !errors.Is(err, wire.ErrRefused) || strings.Contains(err.Error(), f.server.Login().Token) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Both versions are named where they differ, by the coordinator and by the agent.
func TestVersionsDiffer(t *testing.T) {
	f := newFleet(t)
	old := f.join(&stub{name: "a"}, func(c *agent.Config) { c.Version = "1.2.2" })
	config := f.config(&collected{}, 1)
	_, err := coordinator.Run(t.Context(), config)
	skew := (*wire.Skew)(nil)
	if !errors.As(err, &skew) || !strings.Contains(err.Error(), "1.2.2") || !strings.Contains(err.Error(), version) {
		t.Error(err)
	}
	text, err := wire.Encode(version, &wire.Plan{Run: "r", Scenario: "{}", Segment: wire.Segment{Of: 1}, Patience: time.Second, Limit: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	m, err := f.conn.Request(wire.RequestSubject(old.hello.ID, wire.RequestPlan), text, 5*time.Second)
	if err != nil {
		t.Fatal(err)
	}
	a := &wire.Answer{}
	if err := wire.Decode("1.2.2", m.Data, a); err != nil || a.Refused != wire.RefusedVersion || !strings.Contains(a.Why, version) || !strings.Contains(a.Why, "1.2.2") {
		t.Errorf("%+v, %v", a, err)
	}
}

// Whatever keeps one agent from beginning ends the run before it begins, and nothing is left of it anywhere.
func TestARunThatCannotBegin(t *testing.T) {
	broken := errors.New("the broker refuses connections")
	for _, tt := range []struct {
		name   string
		change func(*stub, *coordinator.Config)
		is     error
		says   string
	}{
		{"refused", func(s *stub, _ *coordinator.Config) { s.refuse = broken }, coordinator.ErrRefused, "b: the broker refuses"},
		{"failed", func(s *stub, _ *coordinator.Config) { s.prepare = broken }, coordinator.ErrFailed, "b: the broker refuses"},
		{"too few", func(_ *stub, c *coordinator.Config) { c.Agents, c.Ready = 3, time.Millisecond }, coordinator.ErrMissing, "3 are wanted, and 2 are there: a, b"},
		{"none chosen", func(_ *stub, c *coordinator.Config) {
			c.Choose, c.Ready, c.Agents = func(wire.Hello) bool { return false }, time.Millisecond, 0
		}, coordinator.ErrMissing, "nobody is there"},
		{"not divided", func(_ *stub, c *coordinator.Config) { c.Divider = indivisible{broken} }, broken, "between a, b"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := newFleet(t)
			all := stubs("a", "b")
			c := &collected{}
			config := f.config(c, 2)
			tt.change(all[1], &config)
			js := f.joinAll(all)
			o, err := coordinator.Run(t.Context(), config)
			if o != nil || !errors.Is(err, tt.is) || !strings.Contains(err.Error(), tt.says) {
				t.Errorf("%+v, %v", o, err)
			}
			if c.started != nil {
				t.Error("the result was begun")
			}
			f.idle(js...)
		})
	}
}

// A coordinator that is stopped while the agents get ready, or in the window.
func TestARunIsStopped(t *testing.T) {
	f := newFleet(t)
	all := stubs("a", "b")
	ctx, cancel := context.WithCancel(t.Context())
	slow := make(chan struct{})
	all[1].at = func(i int) {
		if i == 1 {
			cancel()
			<-slow
		}
	}
	all[0].pace, all[1].pace = time.Second, time.Second
	js := f.joinAll(all)
	c := &collected{}
	config := f.config(c, 2)
	config.Limit = 30 * time.Second
	time.AfterFunc(100*time.Millisecond, func() { close(slow) })
	o, err := coordinator.Run(ctx, config)
	if err != nil {
		t.Fatal(err)
	}
	for i, e := range o.Ends {
		if got := c.of[all[i].name]; e.Ending != wire.Interrupted || e.Missing != 0 || len(got) > intervals {
			t.Errorf("%+v, %q", e, got)
		}
	}
	f.idle(js...)
	if o, err := coordinator.Run(ctx, f.config(&collected{}, 2)); o != nil || err == nil {
		t.Errorf("stopped before it began: %+v, %v", o, err)
	}
	f.idle(js...)
}

// Until the result is there the agents and the stream keep all that it is made of.
func TestAResultThatCannotBeWritten(t *testing.T) {
	f := newFleet(t)
	j := f.join(&stub{name: "a"})
	full := errors.New("no space left on device")
	o, err := coordinator.Run(t.Context(), f.config(&collected{broken: full}, 1))
	if !errors.Is(err, full) || o == nil {
		t.Fatalf("%+v, %v", o, err)
	}
	if got := f.stored(t, "run-1", j.hello.ID); got != intervals+2 {
		t.Errorf("the stream has %d messages", got)
	}
	if len(j.files()) == 0 {
		t.Error("the agent has removed its records")
	}
	// What another coordinator finds is what this one had.
	if err := control.RemoveStream(t.Context(), f.conn, "run-1"); err != nil {
		t.Fatal(err)
	}
	// Its coordinator is gone, so the agent takes another plan when it is asked again. The records stay.
	config := f.config(&collected{}, 1)
	config.Run = "run-2"
	until(t, "the agent is free", func() bool {
		o, err = coordinator.Run(t.Context(), config)
		return !errors.Is(err, coordinator.ErrRefused)
	})
	if err != nil || !o.Complete() {
		t.Errorf("%+v, %v", o, err)
	}
	until(t, "only the first run's records are kept", func() bool { return len(j.files()) == 1 })
}

// The coordinator is lost in mid-run: the agents end on time, and keep what they have until it is known to be in a
// result.
func TestTheCoordinatorDies(t *testing.T) {
	f := newFleet(t)
	s := &stub{name: "a"}
	j := f.join(s)
	conn, err := wire.Connect(t.Context(), f.server.Login(), nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	s.at = func(i int) {
		if i == 1 {
			conn.Close()
		}
	}
	config := f.config(&collected{}, 1)
	config.Conn, config.Limit = conn, time.Second
	if o, err := coordinator.Run(t.Context(), config); err == nil && o.Complete() {
		t.Error("a run without a connection is complete")
	}
	until(t, "the stream has all records and the end", func() bool { return f.stored(t, "run-1", j.hello.ID) == intervals+2 })
	if len(j.files()) == 0 {
		t.Error("the agent has removed its records")
	}
	if err := control.RemoveStream(t.Context(), f.conn, "run-1"); err != nil {
		t.Fatal(err)
	}
}

package coordinator_test

import (
	"errors"
	"slices"
	"testing"

	"sixnines/internal/fleet/control"
	"sixnines/internal/fleet/coordinator"
	"sixnines/internal/fleet/wire"
)

// A coordinator is lost in mid-run. Another one gets the same, and leaves nothing behind.
func TestAnotherCoordinatorFinishes(t *testing.T) {
	f := newFleet(t)
	all := stubs("a", "b")
	js := f.joinAll(all)
	conn, err := wire.Connect(t.Context(), f.server.Login(), nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	attached := make(chan struct{})
	all[0].at = func(i int) {
		if i == 1 {
			conn.Close()
		}
	}
	all[1].at = func(i int) {
		if i == 3 {
			<-attached // it goes on when the other coordinator is there
		}
	}
	config := f.config(&collected{}, 2)
	config.Conn, config.Note = conn, []byte("note")
	lost := &collected{}
	config.Collector = lost
	first := make(chan error, 1)
	go func() {
		_, err := coordinator.Run(t.Context(), config)
		first <- err
	}()
	until(t, "the first coordinator has lost its connection", conn.IsClosed)

	c, note := &collected{}, ""
	c.begun = func() { close(attached) }
	a := coordinator.Attachment{Conn: f.conn, Version: version, Run: "run-1", Say: func(line string) { t.Log(line) },
		Collector: func(n []byte) (coordinator.Collector, error) { note = string(n); return c, nil }}
	o, err := coordinator.Attach(t.Context(), a)
	if err != nil {
		t.Fatal(err)
	}
	if !o.Complete() || note != "note" || !slices.Equal(c.of["a"], whole("a")) || !slices.Equal(c.of["b"], whole("b")) {
		t.Errorf("%+v, %q, %q", o, note, c.of)
	}
	<-first
	f.idle(js...)
	if _, err := coordinator.Attach(t.Context(), a); !errors.Is(err, control.ErrNoRun) {
		t.Errorf("once more: %v", err)
	}
}

// A run with a coordinator is left to it, and one that was never started cannot be finished.
func TestWhatCannotBeAttached(t *testing.T) {
	f := newFleet(t)
	s := stubs("a")
	a := coordinator.Attachment{Conn: f.conn, Version: version, Run: "run-1", Collector: func([]byte) (coordinator.Collector, error) {
		t.Error("a collector is made")
		return nil, errors.New("none")
	}}
	s[0].at = func(i int) {
		if i != 1 {
			return
		}
		if _, err := coordinator.Attach(t.Context(), a); !errors.Is(err, coordinator.ErrLed) {
			t.Errorf("beside its coordinator: %v", err)
		}
	}
	js := f.joinAll(s)
	config := f.config(&collected{}, 1)
	config.Limit *= 10
	if o, err := coordinator.Run(t.Context(), config); err != nil || !o.Complete() {
		t.Errorf("%+v, %v", o, err)
	}
	f.idle(js...)
	if _, err := control.MakeStream(t.Context(), f.conn, "run-1", 1<<20); err != nil {
		t.Fatal(err)
	}
	if _, err := coordinator.Attach(t.Context(), a); !errors.Is(err, coordinator.ErrNotStarted) {
		t.Errorf("before its start: %v", err)
	}
	if err := control.RemoveStream(t.Context(), f.conn, "run-1"); err != nil {
		t.Fatal(err)
	}
}

package prober

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"sixnines/driver"
	"sixnines/drivers/mem"
	"sixnines/internal/probe"
	"sixnines/scenario"
)

// scenarioOf is what a probe runs beside a load of this workload.
func scenarioOf(t *testing.T, workload string, e driver.Entry) *scenario.Scenario {
	t.Helper()
	s, err := scenario.Parse("test.yaml", []byte("phases: {duration: 1m}\nworkload: "+workload+"\n"))
	if err != nil {
		t.Fatal(err)
	}
	s.Normalise()
	p := probe.Scenario(s, e, "", nil)
	p.Record.Interval = 200 * time.Millisecond
	return p
}

// A prober reports each message of its window once, with its service time, for every kind of answer;
// and it ends with its context.
func TestEachPatternIsMeasured(t *testing.T) {
	for name, tt := range map[string]struct{ workload, ack string }{
		"deliver":       {`{rate: 1000/s}`, "none"},
		"publish":       {`{rate: 1000/s, pattern: publish}`, "broker"},
		"roundtrip":     {`{rate: 1000/s, pattern: roundtrip}`, "broker"},
		"request-reply": {`{rate: 1000/s, pattern: request-reply}`, "none"},
		"sizes":         {`{rate: 1000/s, size: "64B:50%,1KiB:50%", groups: 1, consumers: 2}`, "none"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			const delay = 2 * time.Millisecond
			e := mem.Entry()
			s := scenarioOf(t, tt.workload, e)
			s.Target.Options = map[string]any{"ack": tt.ack, "delay": "2ms"}
			if tt.ack == "broker" {
				s.Target.Options["ack_delay"] = "2ms"
			}
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			began, whole := 0, 0
			var sent, resolved, values, to int64
			err := Run(ctx, s, e, func(r probe.Report) {
				if r.To == 0 {
					began++
					return
				}
				if to != 0 && r.From != to || r.To <= r.From {
					t.Errorf("an interval from %d to %d follows one to %d", r.From, r.To, to)
				}
				to = r.To
				sent, resolved, values = sent+r.Sent, resolved+r.Resolved, values+int64(len(r.Values))
				for _, v := range r.Values {
					if v < int64(delay) {
						t.Errorf("a service time of %v is less than the broker's delay", time.Duration(v))
					}
				}
				if whole++; whole == 3 {
					cancel()
				}
			})
			if err != nil {
				t.Fatal(err)
			}
			if began != 1 || sent < probe.Rate*600/1000-2 || resolved != sent || values != sent {
				t.Errorf("it began %d times, sent %d, resolved %d, with %d times", began, sent, resolved, values)
			}
		})
	}
}

// refusing is driver mem whose broker refuses to be read.
type refusing struct{ driver.Driver }

type refusingSession struct {
	driver.Session
	notify func(driver.Event)
}

func (d refusing) Open(ctx context.Context, t driver.Target) (driver.Session, error) {
	s, err := d.Driver.Open(ctx, t)
	return refusingSession{s, t.Notify}, err
}

func (s refusingSession) Consumer(ctx context.Context, c driver.ConsumerSpec, _ driver.Deliver) (driver.Consumer, error) {
	client, err := s.Session.Consumer(ctx, c, func(driver.Message) {})
	time.AfterFunc(20*time.Millisecond, func() { s.notify(driver.Event{Kind: driver.Denied, Err: driver.ErrUnauthorized}) })
	return client, err
}

// What the broker refuses before the first measured message ends the probe, with the reason.
func TestRefusedProbeEnds(t *testing.T) {
	e := mem.Entry()
	e.Driver = refusing{e.Driver}
	err := Run(t.Context(), scenarioOf(t, `{rate: 1000/s}`, e), e, func(probe.Report) { t.Error("it measures") })
	if !errors.Is(err, driver.ErrUnauthorized) {
		t.Errorf("%v", err)
	}
	e = mem.Entry()
	s := scenarioOf(t, `{rate: 1000/s}`, e)
	s.Target.Options = map[string]any{"no_such_option": 1}
	if err := Run(t.Context(), s, e, func(probe.Report) { t.Error("it measures") }); err == nil || !strings.Contains(err.Error(), "no_such_option") {
		t.Errorf("%v", err)
	}
}

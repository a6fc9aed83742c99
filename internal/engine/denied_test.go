package engine

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"sixnines/driver"
	"sixnines/drivers/mem"
	"sixnines/internal/engine/plan"
	"sixnines/internal/integrity"
	"sixnines/internal/judge/judgetest"
	"sixnines/result"
)

// The ways in which a broker refuses a message.
const (
	byDone  = "by its answer"
	bySend  = "by the client"
	byEvent = "without saying which" // nobody acknowledges
)

// strict is a driver whose broker refuses every message after the first ones.
type strict struct {
	driver.Driver
	after  int64 // messages that it takes first
	load   bool  // only the load's messages are counted and refused: readiness probes pass
	way    string
	why    error
	taken  atomic.Int64
	notify func(driver.Event)
}

func (d *strict) Open(ctx context.Context, t driver.Target) (driver.Session, error) {
	d.notify = t.Notify
	s, err := d.Driver.Open(ctx, t)
	return strictSession{s, d}, err
}

type strictSession struct {
	driver.Session
	d *strict
}

func (s strictSession) Producer(ctx context.Context, spec driver.ProducerSpec, acks driver.Acks) (driver.Producer, error) {
	p, err := s.Session.Producer(ctx, spec, acks)
	return strictProducer{p, s.d, acks}, err
}

type strictProducer struct {
	driver.Producer
	d    *strict
	acks driver.Acks
}

func (p strictProducer) Send(token uint64, payload []byte) error {
	var e integrity.Envelope
	if e.Get(payload, false); p.d.load && e.Kind != integrity.Data || p.d.taken.Add(1) <= p.d.after {
		return p.Producer.Send(token, payload)
	}
	switch p.d.way {
	case bySend:
		return p.d.why
	case byEvent:
		p.acks.Done(token, nil)
		p.d.notify(driver.Event{Kind: driver.Denied, Err: p.d.why, Count: 1})
	default:
		p.acks.Done(token, p.d.why)
	}
	return nil
}

// Sync implements driver.Syncer.
func (p strictProducer) Sync(context.Context) error { return nil }

var errForbidden = fmt.Errorf("strict: publish: %w: the server says %q", driver.ErrUnauthorized, "NOPERM")

// refusing runs a load with a broker that refuses, and returns how that ended.
func refusing(t *testing.T, d *strict, options, workload string) (*result.Run, error) {
	t.Helper()
	e := mem.Entry()
	d.Driver, e.Driver = e.Driver, d
	c := Config{Scenario: parse(t, "target: {driver: mem, options: "+options+"}\n"+workload), Entry: e, File: filepath.Join(t.TempDir(), "run.jsonl")}
	r, err := Run(t.Context(), c)
	if err == nil {
		judgetest.Verified(t, r, c.File)
	} else if _, gone := os.Stat(c.File); !os.IsNotExist(gone) {
		t.Errorf("a run that measured nothing left its file: %v", gone)
	}
	return r, err
}

// A broker's refusal before the window ends the run with the broker's words, for every load and
// every way of refusing, at the first message and in the warm-up.
func TestRefusedBeforeTheWindowEndsTheRun(t *testing.T) {
	loads := map[string]string{
		"paced":     "phases: {warmup: 1h, duration: 1h}\nworkload: {rate: 1000/s, pattern: %s}",
		"flat out":  "phases: {warmup: 1h, duration: 1h}\nworkload: {rate: max, pattern: %s}",
		"closed":    "phases: {warmup: 1h, duration: 1h}\nworkload: {loop: closed, pattern: %s}",
		"no warmup": "phases: {warmup: 0s, duration: 1h}\nworkload: {rate: 1000/s, pattern: %s}",
	}
	for load, text := range loads {
		for _, pattern := range []string{"publish", "deliver"} {
			for _, way := range []string{byDone, bySend, byEvent} {
				for _, after := range []int64{0, 50} {
					if after > 0 && load == "no warmup" || way == byEvent && load == "closed" && pattern == "publish" {
						continue
					}
					t.Run(fmt.Sprintf("%s/%s/%s/%d", load, pattern, way, after), func(t *testing.T) {
						t.Parallel()
						options := "{ack: broker}"
						if way == byEvent {
							options = "{}"
						}
						_, err := refusing(t, &strict{after: after, way: way, why: errForbidden}, options, fmt.Sprintf(text, pattern))
						if !errors.Is(err, driver.ErrUnauthorized) || !strings.Contains(err.Error(), errForbidden.Error()) {
							t.Errorf("the run ended with %v", err)
						}
					})
				}
			}
		}
	}
}

// A broker that cannot take the first message yet is sent it again for a moment; a lasting
// refusal ends the run.
func TestFirstMessageIsTriedAgain(t *testing.T) {
	t.Parallel()
	full := fmt.Errorf("strict: publish: %w: out of memory", driver.ErrRejected)
	for name, tt := range map[string]struct {
		times int64
		want  error
	}{"for a moment": {3, nil}, "for good": {1 << 40, driver.ErrRejected}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := &passing{strict: strict{why: full}, times: tt.times}
			e := mem.Entry()
			d.Driver, e.Driver = e.Driver, d
			r, err := Run(t.Context(), Config{Scenario: parse(t, `
target: {driver: mem, options: {ack: broker}}
phases: {warmup: 0s, duration: 50ms}
workload: {rate: 1000/s, pattern: publish}`), Entry: e})
			if !errors.Is(err, tt.want) {
				t.Fatalf("the run ended with %v", err)
			}
			if err == nil && r.Counters.Nacked+r.Counters.Rejected > 0 {
				t.Errorf("%s", show(r))
			}
		})
	}
}

// passing refuses the first messages only.
type passing struct {
	strict
	times int64
}

func (d *passing) Open(ctx context.Context, t driver.Target) (driver.Session, error) {
	s, err := d.Driver.Open(ctx, t)
	return passingSession{strictSession{s, &d.strict}, d}, err
}

type passingSession struct {
	strictSession
	d *passing
}

func (s passingSession) Producer(ctx context.Context, spec driver.ProducerSpec, acks driver.Acks) (driver.Producer, error) {
	p, err := s.Session.Producer(ctx, spec, acks)
	return passingProducer{strictProducer{p, &s.d.strict, acks}, s.d}, err
}

type passingProducer struct {
	strictProducer
	d *passing
}

func (p passingProducer) Send(token uint64, payload []byte) error {
	if p.d.taken.Add(1) > p.d.times {
		return p.Producer.Send(token, payload)
	}
	p.acks.Done(token, p.d.why)
	return nil
}

// Refusals in the window are counted, by a number of events that does not grow with them, and the
// verdict says why: SUSPECT, and INVALID where nothing came through.
func TestRefusedInTheWindow(t *testing.T) {
	const some = 200
	for name, tt := range map[string]struct {
		options, pattern, way string
		after                 int64
		status                result.Status
		code                  result.ReasonCode
	}{
		"by its answer":           {"{ack: broker}", "publish", byDone, some, result.Suspect, "refused"},
		"by the client":           {"{ack: broker}", "deliver", bySend, some, result.Suspect, "refused"},
		"nobody knows which":      {"{}", "publish", byEvent, some, result.Suspect, "denied"},
		"and consumers miss them": {"{}", "deliver", byEvent, some, result.Suspect, "denied"},
		"all":                     {"{ack: broker}", "publish", byDone, 0, result.Invalid, "all-refused"},
		"all, nobody knows which": {"{}", "publish", byEvent, 0, result.Invalid, "all-refused"},
		"all, of what they miss":  {"{}", "deliver", byEvent, 0, result.Invalid, "all-refused"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, err := refusing(t, &strict{after: tt.after, load: true, way: tt.way, why: errForbidden}, tt.options,
				"phases: {warmup: 0s, duration: 1s, drain: 200ms}\nworkload: {rate: 400/s, pattern: "+tt.pattern+"}")
			if err != nil {
				t.Fatal(err)
			}
			i := slices.IndexFunc(r.Summary.Verdict.Reasons, func(x result.Reason) bool { return x.Code == tt.code })
			if i < 0 {
				t.Fatalf("no %s: %+v", tt.code, r.Summary.Verdict.Reasons)
			}
			if x := r.Summary.Verdict.Reasons[i]; x.Status != tt.status || !strings.Contains(x.Text, "NOPERM") {
				t.Errorf("%+v, want %s", x, tt.status)
			}
			told := slices.DeleteFunc(slices.Clone(r.Events), func(e result.Event) bool { return e.Class != result.ClassUnauthorized })
			var n int64
			for _, e := range told {
				n += e.Count
			}
			c := r.Counters
			if n != c.Nacked+c.Rejected+c.Denied || n < 400-tt.after || len(told) > 12 { // ten of single events, and those of gathered ones
				t.Errorf("%d records of %d messages, and the counters %+v", len(told), n, c)
			}
		})
	}
}

// The classes that results name are those of the driver contract.
func TestClassesOfEvents(t *testing.T) {
	if string(driver.RefusalsReported) != result.RefusalsReported || string(driver.RefusalsSilent) != result.RefusalsSilent {
		t.Error("results and the contract name differently how refusals are learned of")
	}
	if plan.ClassName(driver.ErrUnauthorized) != result.ClassUnauthorized || plan.ClassName(driver.ErrNotConnected) != result.ClassNotConnected {
		t.Errorf("%q, %q", plan.ClassName(driver.ErrUnauthorized), plan.ClassName(driver.ErrNotConnected))
	}
}

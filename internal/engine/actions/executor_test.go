package actions

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"sixnines/internal/clock"
	"sixnines/internal/engine/window"
	"sixnines/result"
)

// deeds notes what happens, in milliseconds from its first instant.
type deeds struct {
	mu     sync.Mutex
	start  int64
	all    []string
	events []result.Event
}

func (d *deeds) note(format string, a ...any) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.all = append(d.all, fmt.Sprintf("%d ", (clock.Now()-d.start)/int64(time.Millisecond))+fmt.Sprintf(format, a...))
}

func (d *deeds) event(e result.Event) {
	d.mu.Lock()
	d.events = append(d.events, e.Since(d.start))
	d.mu.Unlock()
	d.note("event %s %d", e.Kind, e.Action.Number)
}

// instant is a doer of what does not last.
type instant struct {
	*deeds
	name string
}

func (i instant) Do(context.Context, int64) (int64, error) {
	i.note("do %s", i.name)
	return 0, nil
}

// lasting is one of what does.
type lasting struct {
	instant
	takes  time.Duration
	ahead  time.Duration
	err    error
	panics bool
	late   bool // it happens when Do returns
}

func (l lasting) Do(ctx context.Context, at int64) (int64, error) {
	select {
	case <-time.After(l.takes):
	case <-ctx.Done():
		return 0, ctx.Err()
	}
	if l.panics {
		panic("no more")
	}
	l.note("do %s", l.name)
	if l.late {
		return 0, l.err
	}
	return at, l.err
}

func (l lasting) Ahead() time.Duration { return l.ahead }

func (l lasting) Describe(e *result.Event) { e.Detail += l.name }

func (l lasting) Undo(ctx context.Context) (int64, error) {
	if Ends(ctx) {
		l.note("undo %s at the end", l.name)
		return 0, nil
	}
	l.note("undo %s", l.name)
	return 0, nil
}

const ms = time.Millisecond

func (d *deeds) step(number int, at, length time.Duration, doer Doer) *Step {
	return &Step{Number: number, Text: "{" + fmt.Sprint(number) + "}", At: d.start + int64(at), For: length, Doer: doer, Event: d.event,
		Told: result.Event{Kind: result.EventAction}}
}

func TestExecutor(t *testing.T) {
	failed := errors.New("no")
	for _, c := range []struct {
		name  string
		steps func(*deeds) []*Step
		after func(*deeds, *Executor)
		want  string
	}{
		{"done and undone when it is time", func(d *deeds) []*Step {
			return []*Step{d.step(1, 10*ms, 30*ms, lasting{instant: instant{d, "a"}}), d.step(2, 20*ms, 0, instant{d, "b"})}
		}, func(*deeds, *Executor) { time.Sleep(100 * ms) },
			"10 do a|10 event action 1|20 do b|20 event action 2|40 undo a|40 event action over 1"},
		{"the end undoes the latest first", func(d *deeds) []*Step {
			return []*Step{d.step(1, 10*ms, time.Second, lasting{instant: instant{d, "a"}}), d.step(2, 20*ms, time.Second, lasting{instant: instant{d, "b"}}), d.step(3, 50*ms, 0, instant{d, "c"})}
		}, func(*deeds, *Executor) { time.Sleep(30 * ms) },
			"10 do a|10 event action 1|20 do b|20 event action 2|30 undo b at the end|30 event action over 2|30 undo a at the end|30 event action over 1"},
		{"an interruption undoes, and what always happens still does", func(d *deeds) []*Step {
			always := d.step(3, 50*ms, 0, instant{d, "c"})
			always.Always = true
			return []*Step{d.step(1, 10*ms, time.Second, lasting{instant: instant{d, "a"}}), d.step(2, 40*ms, 0, instant{d, "b"}), always}
		}, func(_ *deeds, x *Executor) {
			time.Sleep(30 * ms)
			x.Interrupt()
			time.Sleep(30 * ms)
		}, "10 do a|10 event action 1|30 undo a|30 event action over 1|50 do c|50 event action 3"},
		{"what panics is undone", func(d *deeds) []*Step {
			return []*Step{d.step(1, 10*ms, time.Second, lasting{instant: instant{d, "a"}, panics: true})}
		}, func(*deeds, *Executor) { time.Sleep(30 * ms) },
			"10 event action failed 1|10 undo a"},
		{"what fails is undone", func(d *deeds) []*Step {
			return []*Step{d.step(1, 10*ms, time.Second, lasting{instant: instant{d, "a"}, err: failed})}
		}, func(*deeds, *Executor) { time.Sleep(30 * ms) },
			"10 do a|10 event action failed 1|10 undo a"},
		{"what is being done is given up and undone", func(d *deeds) []*Step {
			return []*Step{d.step(1, 10*ms, time.Second, lasting{instant: instant{d, "a"}, takes: time.Minute})}
		}, func(*deeds, *Executor) { time.Sleep(30 * ms) },
			"30 undo a at the end"},
		{"one that is late lasts as long", func(d *deeds) []*Step {
			return []*Step{d.step(1, 10*ms, 30*ms, lasting{instant: instant{d, "a"}, takes: 20 * ms, late: true})}
		}, func(*deeds, *Executor) { time.Sleep(100 * ms) },
			"30 do a|30 event action 1|60 undo a|60 event action over 1"},
		{"one that is exact by itself is called ahead", func(d *deeds) []*Step {
			return []*Step{d.step(1, 100*ms, 20*ms, lasting{instant: instant{d, "a"}, takes: 20 * ms, ahead: 20 * ms})}
		}, func(*deeds, *Executor) { time.Sleep(200 * ms) },
			"100 do a|100 event action 1|120 undo a|120 event action over 1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d := &deeds{start: clock.Now()}
				life := window.NewLife(nil)
				x := New(life)
				x.Start(c.steps(d))
				c.after(d, x)
				x.End()
				life.StopAll()
				x.Wait()
				if got := strings.Join(d.all, "|"); got != c.want {
					t.Errorf("\n%s\nwant\n%s", got, c.want)
				}
			})
		})
	}
}

// Events have the planned and the real instant, and where an act was over when it had begun.
func TestEventsOfActions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &deeds{start: clock.Now()}
		life := window.NewLife(nil)
		x := New(life)
		x.Start([]*Step{d.step(1, 10*ms, 50*ms, lasting{instant: instant{d, "a"}})})
		time.Sleep(40 * ms)
		x.Interrupt()
		x.End()
		life.StopAll()
		x.Wait()
		at := func(d time.Duration) int64 { return int64(d) }
		want := []result.Event{
			{At: at(10 * ms), Kind: result.EventAction, Action: &result.Acted{Number: 1, Planned: at(10 * ms), Asked: at(10 * ms), Done: at(10 * ms)}},
			{At: at(40 * ms), Kind: result.EventActionOver, Action: &result.Acted{Number: 1, Planned: at(60 * ms), Began: at(10 * ms), Asked: at(40 * ms), Done: at(40 * ms)}},
		}
		if !slices.EqualFunc(d.events, want, func(a, b result.Event) bool {
			return a.At == b.At && a.Kind == b.Kind && reflect.DeepEqual(a.Action, b.Action) && a.Detail == "a"
		}) {
			t.Errorf("%+v", d.events)
		}
	})
}

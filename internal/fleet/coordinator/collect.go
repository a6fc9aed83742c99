package coordinator

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"sixnines/internal/clock"
	"sixnines/internal/fleet/control"
	"sixnines/internal/fleet/wire"
)

// collect takes records until each agent's end, or until the run's time is over.
func (r *run) collect(ctx, own context.Context) (*Outcome, error) {
	asked, abort := ctx.Done(), r.Abort
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	limit := r.over
	for r.broken == nil && !r.ended() && clock.Now() < limit {
		select {
		case m := <-r.records.come:
			r.take(m)
		case m := <-r.statuses:
			r.hear(m)
		case <-asked:
			asked = nil
			r.say("the window ends here")
			r.tell(own, r.members, wire.RequestStop, &wire.Stop{Run: r.Run, Why: "the coordinator was asked to stop"})
		case <-abort:
			// A second request, once an agent has ended, would have it set its records aside.
			asked, abort = nil, nil
			limit = min(limit, clock.Now()+int64(r.Patience))
			r.tell(own, r.members, wire.RequestStop, &wire.Stop{Run: r.Run, AtOnce: true, Why: "the coordinator was asked to stop at once"})
		case <-tick.C:
		}
		r.pastClosed(own)
	}
	// Before the stream goes: a reader that finds it gone tries for a second and more to read it again.
	r.records.close()
	return r.finish(own)
}

// ended reports whether the end of every agent's records is here.
func (r *run) ended() bool {
	return !slices.ContainsFunc(r.members, func(m *member) bool { return !m.finished })
}

// pastClosed lets the agents remove what was provisioned when nobody uses it any more.
func (r *run) pastClosed(own context.Context) {
	if waiting := r.pass(clock.Now()); len(waiting) > 0 {
		r.tell(own, waiting, wire.RequestGo, &wire.Go{Run: r.Run, Point: wire.Closed})
	}
}

// pass returns the agents that are let go on at Closed now: all that are there, if every other is over or lost. An agent that
// is lost and comes back finds its topics gone, and is marked. It is decided anew each time: one that was silent may be back.
func (r *run) pass(now int64) (waiting []*member) {
	for _, m := range r.members {
		switch {
		case m.over():
		case !m.at(wire.Closed):
			if !r.hearing.lost(m, now, r.Patience) {
				return nil
			}
		case !m.passed:
			waiting = append(waiting, m)
		}
	}
	for _, m := range waiting {
		m.passed = true
	}
	return waiting
}

// take takes a message of the stream.
func (r *run) take(msg jetstream.Msg) {
	id := strings.TrimPrefix(msg.Subject(), wire.RecordSubject(r.Run, ""))
	m := r.byID[id]
	if m == nil || m.finished {
		return // of an agent that is none of the run, or after the end of one
	}
	r.heard(m)
	if bytes.HasPrefix(msg.Data(), []byte("{")) {
		s := &wire.Status{}
		if err := wire.Decode(r.Version, msg.Data(), s); err != nil || s.ID != m.ID || s.Run != r.Run {
			m.damage(fmt.Errorf("its last message cannot be read: %w", err))
			return
		}
		m.end, m.status, m.finished = s, *s, true
		return
	}
	p, err := wire.ParsePart(msg.Data())
	if err != nil {
		m.damage(err)
		return
	}
	number, record, ok, err := m.parts.Add(p)
	if err != nil {
		m.damage(err)
		return
	}
	if ok && r.broken == nil {
		if err := r.Collector.Collect(m.index, number, record); err != nil {
			r.broken = fmt.Errorf("take record %d of %s: %w", number, m.Name, err)
		}
	}
}

// damage notes that the rest of an agent's records cannot be used.
func (m *member) damage(err error) { m.damaged, m.finished = err, true }

// finish gives the ends to the collector, and tells the agents that their records are in the result.
func (r *run) finish(own context.Context) (*Outcome, error) {
	o := &Outcome{Started: r.started}
	if r.unfollow != nil {
		r.unfollow()
		r.unfollow = nil
	}
	if r.startsKnown != nil {
		r.startsKnown()
	}
	for _, m := range r.members {
		e := m.ending(r.Patience)
		if m.tracker != nil {
			e.Clock = m.tracker.end(m.heard)
			if r.loops != nil {
				e.Clock.take(r.loops.of(m.index))
			}
		}
		if e.Ending != wire.Completed || e.Missing > 0 {
			r.say("%s: %s%s", m.Name, e.Ending, before(": ", e.Why))
		}
		o.Ends = append(o.Ends, e)
	}
	o.Late = r.late(own)
	if r.broken != nil {
		return o, r.broken
	}
	if err := r.Collector.Finish(o.Ends); err != nil {
		return o, fmt.Errorf("finish the result: %w", err)
	}
	// Who did not deliver all keeps it, and is told to wait for nothing. Who is not heard of would not hear that: it
	// finds out by itself, and the answer would be awaited for as long as a request takes at most, several times.
	each(r.members, func(m *member) {
		if m.end == nil && m.silent(r.Patience) {
			return
		}
		if err := r.request(own, m, wire.RequestConfirm, &wire.Confirm{Run: r.Run, Records: m.parts.Next()}); err != nil {
			_ = r.request(own, m, wire.RequestStop, &wire.Stop{Run: r.Run, AtOnce: true, Why: "the run is over"})
		}
	})
	return o, control.RemoveStream(own, r.Conn, r.Run)
}

// ending says how an agent's part ended.
func (m *member) ending(patience time.Duration) End {
	e := End{Records: m.parts.Next(), Proved: m.proved, Late: time.Duration(m.status.Late), Heard: m.heard, Ending: m.status.Ending, Why: m.status.Why}
	if known := m.status.Records; known > e.Records {
		e.Missing = known - e.Records
	}
	switch {
	case m.damaged != nil:
		e.Ending, e.Why = wire.Failed, m.damaged.Error()
	case m.end != nil:
	case m.silent(patience):
		e.Ending, e.Why = wire.Died, fmt.Sprintf("nothing has been heard of it for %v", time.Duration(clock.Now()-m.heard).Round(time.Second))
	case m.status.Ending == "":
		e.Ending, e.Why = wire.Hung, "it is heard of, and its run does not end"
	default:
		e.Why = "not all of its records came in time"
	}
	if m.told != nil && e.Why == "" {
		e.Why = "it was not given the start: " + m.told.Error()
	}
	return e
}

// late returns the agents that joined after the run had been divided.
func (r *run) late(ctx context.Context) (all []wire.Hello) {
	found, err := wire.Find(ctx, r.Conn, r.Version, wire.Search{})
	if err != nil {
		return nil // nobody can be asked any more
	}
	for _, f := range found {
		if f.Skew == nil && !r.there[f.Hello.ID] && (r.Choose == nil || r.Choose(f.Hello)) {
			all = append(all, f.Hello)
		}
	}
	return all
}

// publishManifest writes into the stream what the run is.
func (r *run) publishManifest(ctx context.Context, m *wire.Manifest) error {
	text, err := wire.Encode(r.Version, m)
	if err == nil {
		var js jetstream.JetStream
		if js, err = jetstream.New(r.Conn); err == nil {
			_, err = js.Publish(ctx, wire.ManifestSubject(r.Run), text, jetstream.WithExpectStream(wire.StreamName(r.Run)))
		}
	}
	if err != nil {
		return fmt.Errorf("write down what the run is: %w", err)
	}
	return nil
}

func before(mark, text string) string {
	if text == "" {
		return ""
	}
	return mark + text
}

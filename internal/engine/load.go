package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"sixnines/internal/recorder"
	"sixnines/scenario"
)

// load is one workload while it is run. Data goes from one part to the next, and
// each knows of the parts before it only: those that follow read what it has.
type load struct {
	*plan
	session   *session
	recording *recording
	sending   *sending
	receiving *receiving
	accounts  *accounts

	sender sender // on top of sending and receiving
	side   *sideProbe
}

// newLoad plans the workload of a part.
func newLoad(c *control, part scenario.Part) (*load, error) {
	p, err := newPlan(c, part)
	if err != nil {
		return nil, err
	}
	s := &session{plan: p}
	rec := &recording{plan: p, session: s}
	out := newSending(p, s, rec)
	in := &receiving{plan: p, session: s, recording: rec, sending: out}
	ld := &load{plan: p, session: s, recording: rec, sending: out, receiving: in, sender: newSender(out, in),
		accounts: &accounts{plan: p, session: s, recording: rec, sending: out, receiving: in}}
	if u := p.scenario.Phases.Until; !u.IsZero() {
		ld.accounts.follower = &follower{until: u}
	}
	return ld, nil
}

// open connects both sides and provisions.
func (ld *load) open(ctx context.Context) error {
	if err := ld.session.open(ctx); err != nil {
		return err
	}
	if f := ld.accounts.follower; f != nil {
		all := ld.metrics()
		i := slices.IndexFunc(all, f.of)
		if i < 0 {
			return fmt.Errorf("%w: with these options driver %s does not time %s, so no interval of it can be waited for", ErrUsage, ld.config.Entry.Name, f.until.Metric)
		}
		f.metric = all[i]
	}
	return ld.session.openResponders(ctx)
}

// metrics returns what is recorded.
func (ld *load) metrics() []recorder.ID { return append(ld.recording.metrics(), ld.side.metrics()...) }

// disconnect closes producers and consumers, then the sessions. Leftovers are
// told, not fatal: the measurement is done.
func (ld *load) disconnect() error {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	var errs []error
	for _, st := range ld.sending.streams {
		errs = append(errs, st.producer.Close(ctx))
	}
	for _, c := range ld.receiving.clients {
		errs = append(errs, c.Close(ctx))
	}
	return errors.Join(append(errs, ld.session.close())...)
}

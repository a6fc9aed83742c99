package resp

import (
	"context"
	"fmt"

	"sixnines/driver"
	"sixnines/drivers/internal/kit"
)

// referral is a command that a server of a cluster has not done because another server has its slot.
type referral struct {
	command
	kept
	redirection
}

// referral reads the reply to the command that was popped last.
func (p *Pipeline) referral(cmd command, line []byte) (r referral, ok bool) {
	to, ok := redirectionOf(string(line), p.conn.Load().To.Address)
	if !ok {
		return r, false
	}
	r = referral{cmd, p.pending.last(), to}
	return r, r.of != nil
}

// outcome is a command that has been answered.
type outcome struct {
	command
	err error
}

// refer sends commands to the server that has their slot, in the order in which they were first sent: the first that was
// referred there, and those behind it that are out. New ones wait meanwhile. Where the slot has moved, the pipeline goes
// on there. While it is being moved, keys are here or there, and the pipeline stays.
//
// All commands of a pipeline are about one key, so those behind the first are referred alike.
func (p *Pipeline) refer(first referral) error {
	var done []outcome
	err := p.resend(first, &done)
	for _, o := range done { // who hears of it may send, which needs the lock of writing
		o.acks.Done(o.token, o.err)
	}
	return err
}

// resend is refer, and adds to done what has an outcome.
func (p *Pipeline) resend(first referral, done *[]outcome) error {
	p.writing.Lock()
	defer p.writing.Unlock()
	p.referring = true
	defer func() { p.referring = false }()
	all := []referral{first}
	fail := func(err error) error {
		for _, r := range all {
			*done = append(*done, outcome{r.command, fmt.Errorf("%s: %w: its slot is at another server: %w", p.client.Driver, driver.ErrNotConnected, err)})
		}
		return err
	}
	if err := p.write(); err != nil {
		return fail(err)
	}
	for p.replied < p.pending.added {
		kind, n, line, err := p.reply()
		if err != nil {
			return fail(err) // End resolves the others
		}
		cmd, _ := p.pending.pop()
		p.replied++
		if kind == Failure {
			if r, referred := p.referral(cmd, line); referred {
				all = append(all, r)
				continue
			}
		}
		*done = append(*done, outcome{cmd, p.outcome(kind, n, line)})
	}
	p.hops++
	if p.hops > mostHops {
		return fail(fmt.Errorf("%w: the servers of the cluster refer to each other", driver.ErrNotConnected))
	}
	ctx := driver.WithRole(p.life, kit.Producer)
	for len(all) > 0 && all[0].asks {
		n := 1
		for n < len(all) && all[n].asks && all[n].address == all[0].address {
			n++
		}
		*done = append(*done, p.askOther(ctx, all[:n])...)
		all = all[n:]
	}
	if len(all) == 0 {
		return nil
	}
	to := all[len(all)-1]
	p.client.cluster.note(to.redirection)
	p.client.cluster.suspect()
	c, err := connectMaster(ctx, p.client, p.client.serverAt(to.address), string(kit.Producer), alone)
	if err != nil {
		return fail(err)
	}
	p.conn.Load().Close()
	p.use(c)
	if p.left.Load() { // Leave has closed the one before
		c.Close()
	}
	for _, r := range all {
		if err := p.collect(r.of, r.payload); err != nil {
			*done = append(*done, outcome{r.command, err})
			continue
		}
		p.pending.pushKept(command{r.token, r.acks, p.end}, r.kept)
	}
	return p.write()
}

// askOther sends commands to the server that has their key already, although not yet its slot, and waits for the outcomes.
func (p *Pipeline) askOther(ctx context.Context, all []referral) (done []outcome) {
	finish := func(class, err error) []outcome {
		for _, r := range all[len(done):] {
			done = append(done, outcome{r.command, fmt.Errorf("%s: %w: its slot is being moved: %w", p.client.Driver, class, err)})
		}
		return done
	}
	c, err := p.client.Ask(ctx, all[0].address, string(kit.Producer))
	if err != nil {
		return finish(driver.ErrNotConnected, err)
	}
	defer c.Close()
	defer context.AfterFunc(ctx, func() { c.Close() })()
	var frames []byte
	for _, r := range all {
		frames = AppendCommand(frames, "ASKING")
		frames = AppendWord(append(frames, r.of.head...), r.payload)
	}
	if _, err := c.Write(frames); err != nil {
		return finish(driver.ErrTimeout, err) // some of them may be out
	}
	answers := NewReader(c, nil)
	for _, r := range all {
		if _, _, _, err := answers.Reply(); err != nil { // to ASKING
			return finish(driver.ErrTimeout, err)
		}
		kind, n, line, err := answers.Reply()
		if err != nil {
			return finish(driver.ErrTimeout, err)
		}
		o := outcome{r.command, p.outcome(kind, n, line)}
		if o.err != nil {
			if _, referred := redirectionOf(string(line), c.To.Address); referred { // by both servers
				o.err = fmt.Errorf("%s: %w: %w", p.client.Driver, driver.ErrNotConnected, elsewhere{string(line)})
			}
		}
		done = append(done, o)
	}
	return done
}

package resp

import (
	"time"

	"sixnines/driver"
)

// askEvery is how often a silent server is asked to reply to a message. What it refuses of a
// client without replies it does not tell otherwise: a right that is taken away would never
// be heard of.
const askEvery = 100 * time.Millisecond

// listener takes the replies of a silent server. It implements driver.Acks.
type listener struct{ p *Pipeline }

// Done implements driver.Acks: only what the server says is news.
func (l listener) Done(_ uint64, err error) {
	switch driver.Class(err) {
	case nil, driver.ErrTimeout, driver.ErrNotConnected, driver.ErrClosed:
	default:
		l.p.emit(driver.Event{Kind: driver.Denied, Detail: err.Error(), Err: err, Count: 1})
	}
}

// sendSilent is the rest of Send where no reply will come, but for one now and then. It
// unlocks writing.
func (p *Pipeline) sendSilent(token uint64, acks driver.Acks, c *Command, payload []byte) error {
	asks := p.ask.Load() && !p.broken
	if asks {
		p.append(AppendCommand(p.buf, "CLIENT", "REPLY", "ON"))
	}
	if err := p.collect(c, payload); err != nil {
		p.writing.Unlock()
		return err
	}
	if asks {
		p.append(AppendCommand(p.buf, "CLIENT", "REPLY", "OFF"))
		for range 2 { // to the first command, and to the message
			p.pending.push(command{0, listener{p}, p.end})
		}
		p.ask.Store(false)
		time.AfterFunc(askEvery, func() { p.ask.Store(true) })
	}
	if len(p.buf) < p.size {
		p.ends = append(p.ends, len(p.buf))
		p.timer.Hold()
	} else if err := p.write(); err != nil { // the sender hears of it, so it is not dropped
		p.writing.Unlock()
		return err
	}
	p.writing.Unlock()
	acks.Done(token, nil)
	return nil
}

// append has buf, which is longer now, written. writing is held.
func (p *Pipeline) append(buf []byte) {
	p.end += uint64(len(buf) - len(p.buf))
	p.buf = buf
}

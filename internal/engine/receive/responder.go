package receive

import (
	"sixnines/driver"
	"sixnines/internal/clock"
	"sixnines/internal/integrity"
)

// responder answers requests, with a session and a connection of its own. The driver calls respond
// serially.
type responder struct {
	reply []byte // memory of the last reply, used again
	work  work
}

// respond returns the answer to a request, which is valid until the next call; nil: it is no
// message that has one.
func (p *responder) respond(m driver.Message) []byte {
	now := clock.Now()
	answer, kind := integrity.Answer(p.reply, m.Payload)
	if answer == nil {
		return nil
	}
	p.reply = answer
	if kind != integrity.Readiness {
		p.work.Do(now)
	}
	return answer
}

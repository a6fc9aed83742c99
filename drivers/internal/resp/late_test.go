package resp

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"syscall"
	"testing"
	"time"
)

// socket is a connection that is read late: a read takes what is there, or as much of it
// as it has room for.
type socket struct {
	there string
	ended bool
	reads int
}

func (s *socket) ReadsLate() bool          { return true }
func (s *socket) Rest(time.Duration) error { return nil }

func (s *socket) ReadNow(p []byte) (int, error) {
	s.reads++
	n := copy(p, s.there)
	s.there = s.there[n:]
	switch {
	case n > 0:
		return n, nil
	case s.ended:
		return 0, io.EOF
	}
	return 0, syscall.EAGAIN
}

// latePipeline returns one that is read late, with so many commands that wait for their
// replies, among others.
func latePipeline(s *socket, of *lates, number, commands int) (*Pipeline, *outcomes) {
	p := &Pipeline{size: 1, pending: newQueue(), watch: noWatch{}}
	p.readLate(s, of, number)
	o := newOutcomes()
	for i := range commands {
		p.pending.push(command{token: uint64(i), acks: o})
		p.await()
	}
	s.reads = 0
	return p, o
}

// A look ends with the read that finds the socket empty, and whatever that leaves is
// taken by the next.
func TestLooksReadOnce(t *testing.T) {
	fill := readFirst / len(":1\r\n")
	for name, test := range map[string]struct {
		commands int
		come     []string // before each look
		reads    []int    // of each look
		done     []int    // after each look
	}{
		"one reply":                 {1, []string{":1\r\n"}, []int{1}, []int{1}},
		"nothing yet":               {1, []string{"", ":1\r\n"}, []int{1, 1}, []int{0, 1}},
		"two together":              {2, []string{":1\r\n:1\r\n"}, []int{1}, []int{2}},
		"one after the other":       {2, []string{":1\r\n", ":1\r\n"}, []int{1, 1}, []int{1, 2}},
		"half of one":               {2, []string{":1\r\n:", "1\r\n"}, []int{2, 1}, []int{1, 2}},
		"as many as the buffer has": {fill, []string{strings.Repeat(":1\r\n", fill)}, []int{2}, []int{fill}},
		"more than the buffer has":  {fill + 1, []string{strings.Repeat(":1\r\n", fill+1)}, []int{2}, []int{fill + 1}},
	} {
		t.Run(name, func(t *testing.T) {
			var s socket
			var of lates
			p, o := latePipeline(&s, &of, 2, test.commands)
			for i, come := range test.come {
				s.there += come
				s.reads = 0
				p.look()
				if s.reads != test.reads[i] || len(o.errs) != test.done[i] {
					t.Errorf("look %d: %d reads, want %d; %d replies, want %d", i, s.reads, test.reads[i], len(o.errs), test.done[i])
				}
				if left := test.commands - len(o.errs); (left > 0) != (of.unanswered.Load() == 4) || p.answered.Load() != uint64(len(o.errs)) {
					t.Errorf("look %d: marked %d, answered %d, with %d replies to come", i, of.unanswered.Load(), p.answered.Load(), left)
				}
			}
		})
	}
}

// The end of a connection is found though nobody has asked it for anything.
func TestLookFindsTheEnd(t *testing.T) {
	s := socket{ended: true}
	p, _ := latePipeline(&s, new(lates), 0, 0)
	if p.look(); !errors.Is(p.failure, io.EOF) {
		t.Errorf("failure %v", p.failure)
	}
}

// A sender looks for replies to what it has sent before, unless somebody else does.
func TestSenderLooksWhereNobodyDoes(t *testing.T) {
	var s socket
	ps := &Producers{}
	p, o := latePipeline(&s, &ps.late, 0, 1)
	var log []string
	send := func() {
		s.reads = 0
		p.pending.push(command{token: p.pending.added, acks: o})
		p.await()
		log = append(log, fmt.Sprint("send ", s.reads))
	}
	look := func() {
		s.reads = 0
		ps.Look(1)
		log = append(log, fmt.Sprint("look ", s.reads))
	}
	send()
	look()
	send()
	send() // nobody has looked since
	look()
	look()
	send()
	s.there = strings.Repeat(":1\r\n", int(p.pending.added))
	look()
	send() // there is nothing to be taken
	want := []string{"send 1", "look 1", "send 0", "send 1", "look 1", "look 1", "send 0", "look 1", "send 0"}
	if got := strings.Join(log, ", "); got != strings.Join(want, ", ") {
		t.Errorf("reads: %s; want %s", got, strings.Join(want, ", "))
	}
}

// Who has delivered n messages looks at n pipelines at most, first at those that have
// waited longest, and at no more after one whose reply is still on its way.
func TestLooksAtThoseThatWaitLongest(t *testing.T) {
	ps := &Producers{}
	sockets := make([]socket, 3)
	pipelines := make([]*Pipeline, len(sockets))
	acks := make([]*outcomes, len(sockets))
	for i := range sockets {
		pipelines[i], acks[i] = latePipeline(&sockets[i], &ps.late, i, 0)
	}
	send := func(i int) {
		pipelines[i].pending.push(command{token: pipelines[i].pending.added, acks: acks[i]})
		pipelines[i].await()
	}
	reads := func(n int) string {
		for i := range sockets {
			sockets[i].reads = 0
		}
		ps.Look(n)
		return fmt.Sprint(sockets[0].reads, sockets[1].reads, sockets[2].reads)
	}
	var log []string
	look := func(n int, come ...int) {
		for _, i := range come {
			sockets[i].there += ":1\r\n"
		}
		log = append(log, reads(n))
	}
	look(3) // nothing is sent
	send(2)
	send(0)
	send(1)
	look(0, 2)    // nothing was delivered
	look(1)       // 2 has waited longest
	look(1, 0, 1) // then 0
	send(2)
	look(3)    // 1 has its reply, 2 not yet
	look(1, 2) // now it has
	look(1)
	send(0)
	send(1)
	look(1)    // nothing yet of 0, which is behind 1 from now on
	look(2, 1) // and so looked at after it
	want := []string{"0 0 0", "0 0 0", "0 0 1", "1 0 0", "0 1 1", "0 0 1", "0 0 0", "1 0 0", "1 1 0"}
	if got := strings.Join(log, ", "); got != strings.Join(want, ", ") {
		t.Errorf("reads %s; want %s", got, strings.Join(want, ", "))
	}
}

// A look leaves a socket that is written to alone, and its reply to the sender; but not
// for as long as a write is stuck.
func TestLooksWhileTheSenderWrites(t *testing.T) {
	var s socket
	ps := &Producers{}
	p, o := latePipeline(&s, &ps.late, 0, 3)
	s.there = ":1\r\n"
	p.looked.Store(false)
	p.sending.Store(true)
	for range skipsMost {
		ps.Look(1)
	}
	if s.reads != 0 || p.looked.Load() {
		t.Errorf("%d reads of a socket that is written to, looked %t", s.reads, p.looked.Load())
	}
	ps.Look(1) // the write is stuck
	if s.reads != 1 || len(o.errs) != 1 {
		t.Errorf("beside a stuck write: %d reads, %d replies, want 1 of each", s.reads, len(o.errs))
	}
	s.there = ":1\r\n"
	p.sending.Store(false)
	p.looked.Store(false)
	p.await()
	if s.reads != 2 || len(o.errs) != 2 {
		t.Errorf("the sender: %d reads, %d replies, want 2 of each", s.reads, len(o.errs))
	}
}

// Where each message has several copies, one look is made for all of them.
func TestLooksOncePerMessage(t *testing.T) {
	var s socket
	ps := &Producers{}
	p, o := latePipeline(&s, &ps.late, 0, 9)
	s.there = ":3\r\n" // the server tells how many there are
	ps.Look(1)
	s.reads = 0
	for range 7 {
		ps.Look(1)
	}
	if s.reads != 2 {
		t.Errorf("%d reads for 7 copies of messages that have 3 each, want 2", s.reads)
	}
	ps.Look(2)
	if s.reads != 3 {
		t.Errorf("%d reads for 9 copies, want 3", s.reads)
	}
	if len(o.errs) != 1 || p.replied != 1 {
		t.Errorf("%d replies, want 1", len(o.errs))
	}
}

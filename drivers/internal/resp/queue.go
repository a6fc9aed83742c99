package resp

import (
	"sync/atomic"

	"sixnines/driver"
)

// command is one that waits for its reply.
type command struct {
	token uint64
	acks  driver.Acks
	end   uint64 // where its frame ends in the stream of bytes
}

// queue passes commands from the senders (one at a time, see Pipeline.writing) to the
// goroutine that reads the replies, without a lock between the two: when both run at
// full speed on separate processors, a mutex would cost more than everything else. The
// sender publishes commands by storing count; the reader loads count before it reads
// them.
type queue struct {
	keeps bool   // what commands were made of, see pushKept
	tail  *chunk // tail and added belong to the sender
	added uint64
	_     [64]byte
	count atomic.Uint64 // added, for the reader
	// spare is a stack of unused chunks, linked by next. Only the reader pushes and
	// only the sender pops, so that a chunk cannot leave and return between the load
	// and the compare-and-swap of a pop (ABA).
	spare atomic.Pointer[chunk]
	_     [64]byte
	head  *chunk // head, taken and known belong to the reader
	taken uint64
	known uint64 // count when last looked
}

// chunkSize is the number of commands in a chunk, a power of two.
const chunkSize = 1024

type chunk struct {
	commands [chunkSize]command
	kept     *[chunkSize]kept // nil: nothing is
	next     *chunk           // set before the first command of the next is counted
}

func newQueue() *queue {
	c := new(chunk)
	return &queue{tail: c, head: c}
}

// kept is what a command was made of, to be sent again: a server of a cluster may refer it to another one.
type kept struct {
	of      *Command
	payload []byte
}

// push adds a command. Only the sender calls it.
func (q *queue) push(c command) { q.pushKept(c, kept{}) }

// pushKept adds a command, with what it was made of if the queue keeps that. Only the sender calls it.
func (q *queue) pushKept(c command, k kept) {
	i := q.added % chunkSize
	if i == 0 && q.added > 0 {
		next := q.unused()
		q.tail.next = next
		q.tail = next
	}
	q.tail.commands[i] = c
	if q.keeps {
		if q.tail.kept == nil {
			q.tail.kept = new([chunkSize]kept)
		}
		q.tail.kept[i] = k
	}
	q.added++
	q.count.Store(q.added)
}

// unused returns an unused chunk. Only the sender calls it.
func (q *queue) unused() *chunk {
	for {
		c := q.spare.Load()
		if c == nil {
			return new(chunk)
		}
		if q.spare.CompareAndSwap(c, c.next) {
			c.next = nil
			return c
		}
	}
}

// pop takes the oldest command; the reader's.
func (q *queue) pop() (c command, ok bool) {
	if q.taken == q.known {
		if q.known = q.count.Load(); q.taken == q.known {
			return c, false
		}
	}
	i := q.taken % chunkSize
	if i == 0 && q.taken > 0 {
		old := q.head
		q.head = old.next
		for {
			old.next = q.spare.Load()
			if q.spare.CompareAndSwap(old.next, old) {
				break
			}
		}
	}
	q.taken++
	return q.head.commands[i], true
}

// last returns what the command was made of that was popped last, of a queue that keeps that; the reader's.
func (q *queue) last() kept { return q.head.kept[(q.taken-1)%chunkSize] }

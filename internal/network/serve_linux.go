package network

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"runtime"
	"runtime/debug"
	"sync"
	"sync/atomic"

	"golang.org/x/sys/unix"
)

// Serve is the process of the queues. It reads what they are to do, one line, writes their numbers, and then carries out
// and answers each order: whether packets wait, or pass. When in is closed they pass, those that wait leave at once, and it
// writes what it counted.
// Nothing is collected meanwhile: the queues allocate nothing, and have a thread and a processor of Go's each.
func Serve(in io.Reader, out io.Writer) error {
	var specs []queueSpec
	lines := bufio.NewReader(in)
	text, err := lines.ReadBytes('\n')
	if err != nil {
		return fmt.Errorf("network: read the configuration of the queues: %w", err)
	}
	if err := json.Unmarshal(text, &specs); err != nil {
		return fmt.Errorf("network: read the configuration of the queues: %w", err)
	}
	runtime.GOMAXPROCS(runtime.GOMAXPROCS(0) + len(specs))
	debug.SetGCPercent(-1)
	var stop atomic.Bool
	var running sync.WaitGroup
	type start struct {
		i   int
		q   *queue
		err error
	}
	started := make(chan start, len(specs))
	counts, errs := make([]Counts, len(specs)), make([]error, len(specs))
	for i, s := range specs {
		running.Go(func() {
			// The thread has the queue's namespace and class, so it ends with the goroutine.
			runtime.LockOSThread()
			q, err := openIn(s)
			if err != nil {
				started <- start{i: i, err: err}
				return
			}
			started <- start{i: i, q: q}
			errs[i] = q.run(&stop)
			counts[i] = q.counts()
			_ = unix.Close(q.fd)
		})
	}
	queues, numbers := make([]*queue, 0, len(specs)), opened{Queues: make([]uint16, len(specs))}
	for range specs {
		s := <-started
		if err = errors.Join(err, s.err); s.q != nil {
			numbers.Queues[s.i], queues = s.q.number, append(queues, s.q)
		}
	}
	answers := json.NewEncoder(out)
	if err == nil {
		if err = answers.Encode(numbers); err == nil {
			err = obey(json.NewDecoder(lines), answers, queues)
		}
	}
	stop.Store(true)
	running.Wait()
	if err = errors.Join(append(errs, err)...); err != nil {
		return fmt.Errorf("network: %w", err)
	}
	return answers.Encode(counts)
}

// obey carries out orders until they end.
func obey(orders *json.Decoder, answers *json.Encoder, queues []*queue) (err error) {
	all := func(hold bool) (err error) {
		for _, q := range queues {
			err = errors.Join(err, q.hold(hold))
		}
		return err
	}
	for err == nil {
		var o order
		if orders.Decode(&o) != nil { // it is closed
			return all(false)
		}
		var answer obeyed
		if err := all(o.Hold); err != nil {
			answer.Error = err.Error()
		}
		err = answers.Encode(answer)
	}
	return errors.Join(err, all(false))
}

// openIn opens a queue in its namespace, in which the calling thread is from then on. The thread runs before all that are
// not real-time ones, where that is allowed: it wakes, does little and sleeps again.
func openIn(s queueSpec) (*queue, error) {
	if err := enter(s.Namespace); err != nil {
		return nil, err
	}
	_ = unix.SchedSetAttr(0, &unix.SchedAttr{Size: unix.SizeofSchedAttr, Policy: unix.SCHED_FIFO, Priority: 1}, 0)
	return openQueue(s)
}

package relay

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"time"

	"sixnines/internal/child"
)

// Relay is a relay that this process has started. Its methods are safe for concurrent use.
type Relay struct {
	via     Via
	process *child.Process

	mu      sync.Mutex // guards the rest, and the exchange with the process
	answers *bufio.Reader
	state   State
	holders [2]int // how many hold the way to brokers, and the way back
	err     error  // the process has ended
}

// closing is how long the process may take to end.
const closing = 5 * time.Second

// Start starts a relay that passes everything at once. The command makes this program one, see [Command].
func Start(command []string, seed uint64) (*Relay, error) {
	if len(command) == 0 {
		return nil, errors.New("relay: the path of this program is not known, and the relay is a process of it")
	}
	process, err := child.Start(child.Options{Command: append(append([]string(nil), command...), strconv.FormatUint(seed, 10))})
	if err != nil {
		return nil, fmt.Errorf("relay: start its process: %w", err)
	}
	r := &Relay{process: process, answers: bufio.NewReader(process.Out)}
	if err := r.answer(&r.via); err != nil {
		return nil, errors.Join(err, r.Close())
	}
	return r, nil
}

// Via returns how to connect through the relay.
func (r *Relay) Via() Via { return r.via }

// Condition gives the two directions conditions, and returns when that was done, CLOCK_MONOTONIC, and what was
// carried before.
func (r *Relay) Condition(to, from Conditions) (Done, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.state.To, r.state.From = to, from
	return r.set()
}

// Hold holds directions back, and returns when that was done, CLOCK_MONOTONIC. A direction is held until each Hold of it has had
// its [Relay.Release].
func (r *Relay) Hold(to, from bool) (Done, error) { return r.hold(to, from, 1) }

// Release ends what a Hold of the same directions began, and returns when that was done, CLOCK_MONOTONIC.
func (r *Relay) Release(to, from bool) (Done, error) { return r.hold(to, from, -1) }

// hold changes how many hold directions.
func (r *Relay) hold(to, from bool, by int) (Done, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i, is := range []bool{to, from} {
		if is {
			r.holders[i] += by
		}
	}
	r.state.HeldTo, r.state.HeldFrom = r.holders[0] > 0, r.holders[1] > 0
	return r.set()
}

// set puts the state into effect. The caller holds mu.
func (r *Relay) set() (done Done, err error) {
	if r.err != nil {
		return done, r.err
	}
	if err := json.NewEncoder(r.process.In).Encode(r.state); err != nil {
		r.err = fmt.Errorf("relay: its process ended: %w", err)
		return done, r.err
	}
	return done, r.answer(&done)
}

// answer reads an answer of the process.
func (r *Relay) answer(to any) error {
	line, err := r.answers.ReadBytes('\n')
	if err != nil {
		r.err = fmt.Errorf("relay: its process ended: %s", r.process.Why())
		return r.err
	}
	return json.Unmarshal(line, to)
}

// Close ends the relay and its connections.
func (r *Relay) Close() error {
	_ = r.process.In.Close()
	late := time.AfterFunc(closing, r.process.Kill)
	defer late.Stop()
	<-r.process.Ended()
	return r.process.Out.Close()
}

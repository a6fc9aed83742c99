// Package livepage serves a page that shows runs while they are made, from a process of its
// own.
//
// The process reads the result files as they grow. The measuring process tells it which
// file is written, before and after each run, and nothing in between: it does not wait for
// the page, encodes nothing for it, and has none of its garbage. The other process runs
// only while no other thread wants its processor, uses one processor, computes an update at
// most once a second and for at most a twentieth of the time, and computes nothing while
// nobody looks at the page.
package livepage

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"sixnines/internal/child"
)

// Command is the argument that makes this program the process that serves the page.
const Command = "__page"

// closing is how long Close waits until those who look at the page have its end. Without any it
// does not wait. It is long where the machine is busy: the process gets what others leave.
const closing = 30 * time.Second

// ErrAddress is wrapped by an error that is about the address to serve the page at.
var ErrAddress = errors.New("the page cannot be served there")

// Page is a page that is served. Its methods are for one goroutine.
type Page struct {
	Address string // HOST:PORT
	process *child.Process
	to      *json.Encoder
	broken  bool // the process ended, and has been reported
}

// Options say which page is served.
type Options struct {
	Program []string // this program and [Command]
	Address string   // HOST:PORT; without a host it is this machine alone, and port 0 is any that is free
	Command string   // the command of this program that makes the runs
	Tool    string   // what makes the page
}

// told is a message to the process; one of its fields is set.
type told struct {
	Serve *served `json:"serve,omitempty"`
	Begin *begun  `json:"begin,omitempty"`
	End   *ended  `json:"end,omitempty"`
}

type served struct {
	Address string `json:"address"`
	Command string `json:"command"`
	Tool    string `json:"tool"`
}

// begun is a run whose file is about to be written.
type begun struct {
	File  string `json:"file"`
	About string `json:"about,omitempty"`
}

// ended is the end of the run.
type ended struct {
	Kept  bool `json:"kept"`  // the file is a result
	Alone bool `json:"alone"` // it is no part of a series: the page becomes its report
}

// answer is what the process says once it serves the page, or cannot.
type answer struct {
	Address string `json:"address,omitempty"`
	Error   string `json:"error,omitempty"`
}

// Start serves a page until Close. The process is killed if this one is.
func Start(o Options) (*Page, error) {
	process, err := child.Start(child.Options{Command: o.Program, Kill: true})
	if err != nil {
		return nil, fmt.Errorf("start the process of the page: %w", err)
	}
	p := &Page{process: process, to: json.NewEncoder(process.In)}
	var a answer
	err = p.to.Encode(told{Serve: &served{o.Address, o.Command, o.Tool}})
	if err == nil {
		err = json.NewDecoder(bufio.NewReader(process.Out)).Decode(&a)
	}
	switch {
	case err != nil:
		process.Kill()
		err = fmt.Errorf("the process of the page: %w: %s", err, process.Why())
	case a.Error != "":
		err = fmt.Errorf("%w: %s", ErrAddress, a.Error)
	default:
		p.Address = a.Address
		return p, nil
	}
	return nil, errors.Join(err, p.end(0))
}

// Begin says that a run is about to write its result to file, an absolute path.
func (p *Page) Begin(file, about string) error { return p.tell(told{Begin: &begun{file, about}}) }

// End says that the run has ended, and whether it left a result. The page becomes the report of
// one that is alone, until another begins.
func (p *Page) End(kept, alone bool) error { return p.tell(told{End: &ended{kept, alone}}) }

// tell sends a message. The first failure is returned, later ones are of the same cause.
func (p *Page) tell(m told) error {
	if p.broken {
		return nil
	}
	if err := p.to.Encode(m); err != nil {
		p.broken = true
		p.process.Kill()
		return fmt.Errorf("the page is not served any more: %s", p.process.Why())
	}
	return nil
}

// Close ends the page, after those who look at it have its last state.
func (p *Page) Close() error { return p.end(closing) }

// end closes the process's input and waits for its end.
func (p *Page) end(patience time.Duration) error {
	err := p.process.In.Close()
	select {
	case <-p.process.Ended():
	case <-time.After(patience):
		p.process.Kill()
		<-p.process.Ended()
	}
	return errors.Join(err, p.process.Out.Close())
}

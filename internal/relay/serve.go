package relay

import (
	"bufio"
	"crypto/rand"
	"crypto/subtle"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"runtime/debug"
	"time"

	"sixnines/internal/clock"
)

// Command makes the program sixnines a relay: it is no command for users.
const Command = "__relay"

// State is what a relay does to all its connections, by direction.
type State struct {
	To       Conditions `json:"to"`   // to brokers
	From     Conditions `json:"from"` // from brokers
	HeldTo   bool       `json:"held_to,omitempty"`
	HeldFrom bool       `json:"held_from,omitempty"`
}

// Done says that a state is in effect.
type Done struct {
	At   int64  `json:"at"` // CLOCK_MONOTONIC
	To   Counts `json:"to"` // since the conditions before began
	From Counts `json:"from"`
}

// dialLimit is how long connecting to a broker may take, if the client waits as long.
const dialLimit = time.Minute

// server is the process of a relay.
type server struct {
	token    string
	to, from *way
	quit     chan struct{}
}

// Serve is the process of a relay. It writes how it is reached, one line, and then puts each state that it reads into effect and
// answers it. It ends when in is closed, and its connections with it.
// What jitter draws follows from the seed.
func Serve(in io.Reader, out io.Writer, seed uint64) error {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		listener, err = net.Listen("tcp", "[::1]:0")
	}
	if err != nil {
		return fmt.Errorf("relay: %w", err)
	}
	debug.SetGCPercent(400)
	s := &server{token: rand.Text(), quit: make(chan struct{}), to: newWay(seed), from: newWay(seed + 1)}
	go func() { // until the process ends
		for {
			c, err := listener.Accept()
			if err != nil {
				return
			}
			go s.serve(c.(*net.TCPConn))
		}
	}()
	answers := json.NewEncoder(out)
	err = answers.Encode(Via{Address: listener.Addr().String(), Token: s.token})
	states := json.NewDecoder(bufio.NewReader(in))
	for err == nil {
		var state State
		if states.Decode(&state) != nil {
			break // it is closed
		}
		err = answers.Encode(s.set(state))
	}
	close(s.quit)
	_ = listener.Close()
	return err
}

// set puts a state into effect.
func (s *server) set(state State) (done Done) {
	done.To = s.to.set(state.To, state.HeldTo)
	done.From = s.from.set(state.From, state.HeldFrom)
	done.At = clock.Now()
	return done
}

// serve serves a client. The request takes the way to the broker, and the answer the way back.
func (s *server) serve(client *net.TCPConn) {
	defer client.Close()
	_ = client.SetReadDeadline(time.Now().Add(dialLimit))
	token, network, address, err := request(client)
	if err != nil || subtle.ConstantTimeCompare([]byte(token), []byte(s.token)) != 1 {
		return
	}
	_ = client.SetReadDeadline(time.Time{})
	if !s.to.pass(s.quit) {
		return
	}
	d := net.Dialer{Timeout: dialLimit}
	c, err := d.Dial(network, address)
	if !s.from.pass(s.quit) {
		return
	}
	if err != nil {
		_, _ = io.WriteString(client, refused(err)+"\n")
		return
	}
	broker := c.(*net.TCPConn)
	defer broker.Close()
	if _, err := io.WriteString(client, connected(broker)+"\n"); err != nil {
		return
	}
	carry(client, broker, s.to, s.from, s.quit)
}

package resp

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"sixnines/driver"
	"sixnines/drivers/internal/kit"
	"sixnines/semantics"
)

// Session is what a session of either driver is built on: the client, the
// connection for all that is not messages, and what the server has told of
// itself. It is safe for concurrent use.
type Session struct {
	*Client
	Control *Control

	settings []string // that Look asks for

	mu      sync.Mutex
	server  Server
	closed  bool
	servers map[string]*Control // of a cluster, by address
}

// NewSession returns one that is not connected, see newClient. Beside the server's limits
// the settings are asked for.
func NewSession(t driver.Target, name, via string, o Options, settings ...string) (*Session, error) {
	client, err := newClient(t, name, via, o)
	if err != nil {
		return nil, err
	}
	return &Session{Client: client, settings: append(limits(), settings...)}, nil
}

// Reach connects the session's own connection, beside those of producers and consumers,
// and finds out what the server is.
func (s *Session) Reach(ctx context.Context) (err error) {
	if s.Control, err = newControl(ctx, s.Client); err != nil {
		return err
	}
	s.watchSentinels()
	s.watchCluster()
	return s.Look(ctx)
}

// Close ends all that the session keeps, and what the functions end, and then its own
// connection, which consumers may need until then.
func (s *Session) Close(ctx context.Context, also ...func(context.Context)) error {
	err := s.Client.Close(ctx, also...)
	if s.Control != nil {
		s.Control.Close(ctx)
	}
	s.mu.Lock()
	s.closed = true
	servers := s.servers
	s.servers = nil
	s.mu.Unlock()
	for _, c := range servers {
		c.Close(ctx)
	}
	s.watching.Wait() // the session's end ends them
	return err
}

// Await repeats what the server cannot do yet, until ctx ends.
func (s *Session) Await(ctx context.Context, what string, attempt func() error) error {
	return kit.Await(ctx, s.Driver+": "+what, passes, attempt)
}

// Allowed asks whether the server takes the command for each of the names, where the
// replies to it are switched off later. A transaction that is discarded tells: the server
// refuses a command when it is queued, and does none of them. Who may not begin one is not told.
func (s *Session) Allowed(ctx context.Context, command string, names ...string) error {
	var refused error
	_, err := connect(ctx, s.Client, "", string(kit.Control), func(c *Conn) (struct{}, error) {
		defer c.Close()
		if _, err := c.Do("MULTI"); err != nil {
			if _, said := ReplyText(err); said {
				err = nil
			}
			return struct{}{}, err
		}
		for _, name := range names {
			if _, err := c.Do(command, name, ""); err != nil {
				if _, said := ReplyText(err); said {
					refused, err = s.Wrap(Explain(err), "%s to %q", strings.ToLower(command), name), nil
				}
				return struct{}{}, err
			}
		}
		_, err := c.Do("DISCARD")
		return struct{}{}, err
	})
	if refused != nil {
		return refused
	}
	return err
}

// Look asks the server about itself again.
func (s *Session) Look(ctx context.Context) error {
	const what = "ask the server about itself"
	var server Server
	if err := s.Await(ctx, what, func() (err error) {
		if server, err = look(ctx, s.Control, s.settings...); err != nil {
			err = s.Wrap(err, what)
		}
		return err
	}); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.server = server
	return nil
}

// Server returns what the server has last told.
func (s *Session) Server() Server {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.server
}

// Semantics returns what both drivers report alike. A message is called what: "publish".
func (s *Session) Semantics(what string, silent bool) driver.Semantics {
	server := s.Server()
	sem := driver.Semantics{
		Levels:    semantics.Levels{Ordering: semantics.PerTopic, Delivery: semantics.AtMostOnce},
		Client:    s.Client.software(),
		Server:    server.describe(s.Client),
		Encrypted: s.TLS != nil,
		Ordering:  "per producer and topic",
		Batching:  s.batching(what, silent),
		Transport: s.Control.transport,
		Settings:  server.Effective(s.Client),
		Warnings:  slices.Concat(server.Warnings, s.warnings()),
	}
	return sem
}

// Check refuses payloads of size bytes if the server would.
func (s *Session) Check(size int) error {
	if err := s.Server().Check(size); err != nil {
		return fmt.Errorf("%s: %w", s.Driver, err)
	}
	return nil
}

// CheckName refuses what would be hard to recognise in the name of a channel or
// a key. what says whose name it is.
func (s *Session) CheckName(what, name string) error {
	if name == "" || strings.ContainsFunc(name, func(r rune) bool { return r <= ' ' || r == 0x7f }) {
		return s.New(driver.ErrUnsupported, fmt.Sprintf("%s %q", what, name), "names are not empty and have no spaces")
	}
	return nil
}

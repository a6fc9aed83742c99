package resp

import (
	"context"
	"fmt"
	"strings"
	"sync"

	"sixnines/driver"
	"sixnines/drivers/internal/kit"
)

// Session is what a session of either driver is built on: the client, the
// connection for all that is not messages, and what the server has told of
// itself. It implements driver.ServerInfo, and is safe for concurrent use.
type Session struct {
	Client  *Client
	Control *Control

	settings []string // that Look asks for

	mu     sync.Mutex
	server Server
}

// Open connects and finds out what the server is. Beside its limits the settings
// called names are asked for.
func Open(ctx context.Context, t driver.Target, c Config, names ...string) (*Session, error) {
	client, err := NewClient(t, c)
	if err != nil {
		return nil, err
	}
	s := &Session{Client: client, settings: append(limits(), names...)}
	if s.Control, err = NewControl(ctx, client); err != nil {
		return nil, fmt.Errorf("%s: %w", c.Driver, err)
	}
	if err := s.Look(ctx); err != nil {
		s.Control.Close(ctx)
		return nil, err
	}
	return s, nil
}

// Await repeats what the server cannot do yet, until ctx ends.
func (s *Session) Await(ctx context.Context, what string, attempt func() error) error {
	return kit.Await(ctx, s.Client.Driver+": "+what, passes, attempt)
}

// Look asks the server about itself again.
func (s *Session) Look(ctx context.Context) error {
	var server Server
	if err := s.Await(ctx, "ask the server about itself", func() (err error) {
		if server, err = look(ctx, s.Control, s.settings...); err != nil {
			err = fmt.Errorf("%s: ask the server about itself: %w", s.Client.Driver, err)
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

// ServerInfo implements driver.ServerInfo.
func (s *Session) ServerInfo() map[string]string { return s.Server().Describe(s.Client) }

// Check refuses payloads of size bytes if the server would.
func (s *Session) Check(size int) error {
	if err := s.Server().Check(size); err != nil {
		return fmt.Errorf("%s: %w", s.Client.Driver, err)
	}
	return nil
}

// CheckName refuses what would be hard to recognise in the name of a channel or
// a key. what says whose name it is.
func (s *Session) CheckName(what, name string) error {
	if name == "" || strings.ContainsFunc(name, func(r rune) bool { return r <= ' ' || r == 0x7f }) {
		return fmt.Errorf("%s: %s %q: %w: names are not empty and have no spaces", s.Client.Driver, what, name, driver.ErrUnsupported)
	}
	return nil
}

// Wrap adds the driver and what was being done to an error of this package, and
// the class of a lost connection where it has none.
func (s *Session) Wrap(err error, format string, args ...any) error {
	if driver.Class(err) == nil {
		err = fmt.Errorf("%w: %w", driver.ErrNotConnected, err)
	}
	return fmt.Errorf("%s: %s: %w", s.Client.Driver, fmt.Sprintf(format, args...), err)
}

package rabbitmqstream

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/rabbitmq/rabbitmq-stream-go-client/pkg/stream"

	"sixnines/driver"
	"sixnines/drivers/internal/kit"
	"sixnines/drivers/internal/rabbit"
	"sixnines/drivers/rabbitmqstream/wire"
	"sixnines/semantics"
)

// What the client library is set to, or has limits of.
const (
	libraryHeartbeat  = 3 * time.Second
	libraryEntry      = 10_000 // messages in an entry: it makes them of one batch
	libraryUnanswered = 10_000 // messages of a producer, which then waits: its default
	libraryPlaces     = 254    // producers or consumers on a connection
	libraryPatience   = 24 * time.Hour
)

// libraryBatch is how many messages the library writes in one go: its default, or as
// many as are to make an entry. So many wait in its queue, too, before Send does.
func (o *Options) libraryBatch() int { return max(100, o.SubEntrySize) }

// librarySemantics says what is different with the library.
func (s *session) librarySemantics(sem *driver.Semantics) {
	delete(sem.Settings, "write_buffer")
	sem.Client = semantics.Client{Kind: semantics.Library, Name: "rabbitmq-stream-go-client", Version: stream.ClientVersion}
	sem.Settings["batch"] = strconv.Itoa(s.options.libraryBatch()) + " messages at most"
	sem.Settings["unanswered"] = strconv.Itoa(libraryUnanswered) + " messages of a producer, then sends wait"
	sem.Settings["addresses"] = "as the brokers advertise them"
	if s.alone() {
		sem.Settings["addresses"] = "as the URL has it"
	}
	sem.Warnings = append(sem.Warnings,
		"the client library does not tell for sure which messages it had not written when a connection was lost: all that were not answered are counted as unknown",
		"the client library dials by itself: a connection that hangs in a write cannot be cut, and its loss is noticed late")
}

// libraryConnection is an environment of rabbitmq-stream-go-client for the producers,
// or the consumers, that share a connection: they share one for each server that the
// library connects them to. The environment has one more connection, to locate servers.
type libraryConnection struct {
	session *session
	name    string // of connections, for people
	env     *stream.Environment
	done    chan struct{}

	mu      sync.Mutex
	err     error // why it has ended; nil: it has not
	closing bool  // no member can join any more
	members map[libraryMember]struct{}

	joining   sync.WaitGroup // calls of open
	watching  sync.WaitGroup // calls of watch
	shutting  sync.WaitGroup // calls of close
	releasing sync.Once
}

// libraryMember is a producer or consumer of the library's.
type libraryMember interface {
	open() error   // makes it, however long that takes
	watch()        // handles the library's notifications until it is closed
	end(why error) // says that the connection has ended
	close()        // closes it, however long that takes
}

// openLibrary connects. The library's errors tell little, it logs each, and it waits
// for as long as it may for an answer on a connection that was lost: whether a server is
// there, takes the login and answers is found out by a connection of our own.
func openLibrary(ctx context.Context, s *session, key kit.Key) (connection, error) {
	ctx, cancel := context.WithTimeout(ctx, s.options.ConnectTimeout)
	defer cancel()
	if err := s.admin.Do(ctx, func(conn *wire.Conn) error {
		_, err := conn.Locate(ctx, s.own("")) // a stream that does not exist
		return err
	}); err != nil && !isCode(err, wire.NoStream) {
		return nil, wrap(err, "reach the broker")
	}
	c := &libraryConnection{session: s, name: s.ConfigOf(key.String()).Name, done: make(chan struct{}), members: map[libraryMember]struct{}{}}
	options := s.libraryOptions(key)
	if err := within(ctx, func() (err error) {
		c.env, err = stream.NewEnvironment(options)
		return err
	}, func() { c.env.Close() }); err != nil {
		err = answerOf(err)
		if !errors.Is(classOf(err), driver.ErrUnauthorized) {
			err = fmt.Errorf("%w: %w", driver.ErrNotConnected, err)
		}
		return nil, wrap(err, "connect %s by the client library", key)
	}
	return c, nil
}

// libraryOptions says how the library connects. Sizes of the kernel's buffers are
// left to the kernel, as for all other connections: with 8 KiB each, the library's
// default, a connection to the same machine stands still for most of the time.
func (s *session) libraryOptions(key kit.Key) *stream.EnvironmentOptions {
	o, servers := &s.Config, s.From(key.Conn)
	options := stream.NewEnvironmentOptions().
		SetMaxProducersPerClient(libraryPlaces).SetMaxConsumersPerClient(libraryPlaces).
		SetReadBuffer(0).SetWriteBuffer(0).
		SetRequestedHeartbeat(o.Heartbeat).SetRequestedMaxFrameSize(o.FrameMax).SetRPCTimeout(o.ConnectTimeout)
	scheme := plainScheme
	if s.TLS != nil {
		scheme = encryptedScheme
		config := s.TLS
		if config.ServerName == "" { // there is one for all servers
			config = config.Clone()
			config.ServerName = servers[0].Host
		}
		options.SetTLSConfig(config)
	}
	if o.External {
		options.SetSaslConfiguration(stream.SaslConfigurationExternal)
	}
	for _, to := range servers {
		host, port, _ := net.SplitHostPort(to.Address)
		if strings.Contains(host, ":") {
			host = "[" + host + "]"
		}
		// It makes a URL of these as they are, and takes the virtual host out of that
		// decoded twice.
		options.ConnectionParameters = append(options.ConnectionParameters, &stream.Broker{Scheme: scheme, Host: host, Port: port,
			User: url.User(o.User).String(), Password: url.User(o.Password).String(),
			Vhost: url.PathEscape(url.QueryEscape(o.VHost))})
	}
	if first := options.ConnectionParameters[0]; s.alone() {
		// What the broker advertises need not be reachable from here.
		port, _ := strconv.Atoi(first.Port)
		options.SetAddressResolver(stream.AddressResolver{Host: first.Host, Port: port})
	}
	return options
}

// within runs f, which knows no contexts. If ctx ends before f does, late is called
// should f succeed after all.
func within(ctx context.Context, f func() error, late func()) error {
	ended := make(chan error, 1)
	go func() { ended <- f() }()
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
		go func() {
			if <-ended == nil {
				late()
			}
		}()
		return context.Cause(ctx)
	}
}

// join makes a member. One that comes too late is closed again.
func (c *libraryConnection) join(ctx context.Context, m libraryMember) error {
	c.mu.Lock()
	if c.closing {
		c.mu.Unlock()
		return rabbit.ErrClosed
	}
	c.joining.Add(1)
	c.mu.Unlock()
	return answerOf(within(ctx, func() error {
		defer c.joining.Done()
		if err := m.open(); err != nil {
			return err
		}
		if err := c.add(m); err != nil {
			m.close()
			return err
		}
		return nil
	}, func() { c.shut(m) }))
}

// add registers a member, which learns of the end and is watched.
func (c *libraryConnection) add(m libraryMember) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closing {
		return rabbit.ErrClosed
	}
	c.members[m] = struct{}{}
	c.watching.Go(m.watch)
	return nil
}

// shut closes a member, which gets no more notifications. It does not wait for the
// library, which may take long.
func (c *libraryConnection) shut(m libraryMember) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.closing { // else release sees to it
		delete(c.members, m)
		c.shutting.Go(m.close)
	}
}

// ended deals with what the library tells of the end of a producer or consumer.
func (c *libraryConnection) ended(e stream.Event) {
	switch e.Reason {
	case stream.DeletePublisher, stream.UnSubscribe: // as it was asked to
	case stream.SocketClosed:
		if c.fail(errors.New("the client library has lost the connection")) {
			// The library is closing all members, and must not be disturbed.
			go func() {
				c.watching.Wait()
				c.release()
			}()
		}
	case stream.MetaDataUpdate:
		c.abandon(&wire.Error{Code: wire.NotAvailable, Text: e.StreamName})
	default:
		c.abandon(errors.New("the client library says: " + e.Reason))
	}
}

// abandon ends the connection for the reason, unless it has ended.
func (c *libraryConnection) abandon(why error) {
	if c.fail(why) {
		go c.release()
	}
}

// fail tells all members of the end; false: that has been done.
func (c *libraryConnection) fail(why error) bool {
	c.mu.Lock()
	if c.err != nil {
		c.mu.Unlock()
		return false
	}
	if c.closing {
		why = rabbit.ErrClosed // and the library's word on it says nothing
	}
	c.err, c.closing = why, true
	members := slices.Collect(maps.Keys(c.members))
	c.mu.Unlock()
	for _, m := range members {
		m.end(why)
	}
	close(c.done)
	return true
}

// release closes what the library has, which may take until the broker is back.
func (c *libraryConnection) release() {
	c.releasing.Do(func() {
		c.mu.Lock()
		c.closing = true
		// One after the other, as the environment does it, each would wait for those
		// before it, up to half a second for each.
		for m := range c.members {
			c.shutting.Go(m.close)
		}
		c.mu.Unlock()
		c.shutting.Wait()
		c.joining.Wait()
		c.env.Close()
	})
}

// Flush implements connection: the library waits for nothing.
func (c *libraryConnection) Flush() error { return nil }

// Close implements rabbit.Conn.
func (c *libraryConnection) Close(ctx context.Context) {
	c.mu.Lock()
	over := c.err != nil
	c.mu.Unlock()
	if over { // and what is left to do is being done
		<-c.done
		return
	}
	released := make(chan struct{})
	go func() {
		defer close(released)
		c.release()
	}()
	select {
	case <-released:
	case <-ctx.Done():
	}
	c.fail(rabbit.ErrClosed)
	<-c.done
}

// Done implements rabbit.Conn.
func (c *libraryConnection) Done() <-chan struct{} { return c.done }

// Err implements rabbit.Conn.
func (c *libraryConnection) Err() error { return c.err }

// answerOf returns the server's answer that an error of the library stands for, and
// any other error as it is.
func answerOf(err error) error {
	for _, a := range []struct {
		is   error
		code wire.Code
	}{
		{stream.StreamDoesNotExist, wire.NoStream},
		{stream.StreamNotAvailable, wire.NotAvailable},
		{stream.LeaderNotReady, wire.NotAvailable},
		{stream.AuthenticationFailure, wire.LoginFailed},
		{stream.AuthenticationFailureLoopbackError, wire.LoopbackOnly},
		{stream.VirtualHostAccessFailure, wire.NoVHost},
		{stream.CodeAccessRefused, wire.AccessRefused},
		{stream.FrameTooLarge, wire.FrameTooLarge},
		{stream.InternalError, wire.InternalError},
		{stream.PreconditionFailed, wire.PreconditionFailed},
	} {
		if errors.Is(err, a.is) {
			return &wire.Error{Code: a.code}
		}
	}
	return err
}

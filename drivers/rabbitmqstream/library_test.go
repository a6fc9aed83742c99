package rabbitmqstream

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/rabbitmq/rabbitmq-stream-go-client/pkg/stream"

	"sixnines/driver"
	"sixnines/drivers/internal/kit"
	"sixnines/drivers/internal/rabbit"
	"sixnines/drivers/rabbitmqstream/wire"
)

func TestOptionsOfTheLibrary(t *testing.T) {
	for _, tt := range []struct {
		option string // that is wrong; empty: none is
		change func(*Options)
	}{
		{"", func(*Options) {}},
		{"heartbeat", func(o *Options) { o.Heartbeat = 0 }},
		{"heartbeat", func(o *Options) { o.Heartbeat = time.Second }},
		{"sub_entry_size", func(o *Options) { o.SubEntrySize = 10_001 }},
		{"credit", func(o *Options) { o.Credit = 1 << 15 }},
	} {
		o := DefaultOptions()
		tt.change(&o)
		if err := o.Validate(); err != nil {
			t.Errorf("direct, with a wrong %s: %v", tt.option, err)
		}
		o.Client = library
		err := o.Validate()
		var wrong *driver.OptionError
		if tt.option == "" && err != nil || tt.option != "" && (!errors.As(err, &wrong) || wrong.Option != tt.option) {
			t.Errorf("library, with a wrong %q: %v", tt.option, err)
		}
	}
}

// The library makes a URL of what it is given and reads that again: whatever is in a
// password must come out of it as it was.
func TestAddressesForTheLibrary(t *testing.T) {
	const vhost = "v/w x+y%2F"
	o := DefaultOptions()
	o.Client, o.User, o.Password, o.VHost = library, "a:b@c/d e", "p%41/:@?#[ ü", vhost
	s, err := newSession(driver.Target{URL: "rabbitmq-stream://[::1]:5553", Run: "r"}, o)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Stop()
	options := s.libraryOptions(kit.Key{Role: kit.Producer})
	u, err := url.Parse(options.ConnectionParameters[0].GetUri())
	if err != nil {
		t.Fatal(err)
	}
	password, _ := u.User.Password()
	path, err := url.QueryUnescape(strings.TrimPrefix(u.Path, "/"))
	if u.User.Username() != o.User || password != o.Password || path != vhost || err != nil || u.Host != "[::1]:5553" {
		t.Errorf("%q as %q, %q at %q, %q, %v", u, u.User.Username(), password, u.Host, path, err)
	}
	if r := options.AddressResolver; r == nil || r.Host != "[::1]" || r.Port != 5553 {
		t.Errorf("a server by itself is looked for at %+v", r)
	}
	s.spread = true
	if r := s.libraryOptions(kit.Key{Role: kit.Producer}).AddressResolver; r != nil {
		t.Errorf("one of several servers is looked for at %+v", r)
	}
}

func TestAnswersOfTheLibrary(t *testing.T) {
	for err, class := range map[error]error{
		fmt.Errorf("declare: %w", stream.StreamDoesNotExist): driver.ErrNoTopic,
		stream.AuthenticationFailure:                         driver.ErrUnauthorized,
		stream.LeaderNotReady:                                driver.ErrNotConnected,
		stream.FrameTooLarge:                                 driver.ErrTooLarge,
		errors.New("timeout 1000 ms - waiting Code"):         driver.ErrNotConnected,
	} {
		if got := protocol().ClassOf(answerOf(err)); got != class {
			t.Errorf("%v: %v, want %v", err, got, class)
		}
	}
	if !passes(answerOf(stream.LeaderNotReady)) || answerOf(nil) != nil {
		t.Error("an election does not pass, or nothing is an error")
	}
}

func TestWithin(t *testing.T) {
	wrong := errors.New("wrong")
	if err := within(t.Context(), func() error { return wrong }, func() { t.Error("late after an error") }); err != wrong {
		t.Error(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	begun, late := make(chan struct{}), make(chan struct{})
	if err := within(ctx, func() error { <-begun; return nil }, func() { close(late) }); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	close(begun)
	<-late
}

// noted is a wire.Publisher that keeps what it is told.
type noted struct{ ended chan error }

func (noted) Confirm(wire.IDs)         {}
func (noted) Refuse(uint64, wire.Code) {}
func (n noted) End(why error)          { n.ended <- why }

// A connection ends once, and tells each of its members.
func TestLibraryConnectionEnds(t *testing.T) {
	c := &libraryConnection{done: make(chan struct{}), members: map[libraryMember]struct{}{}}
	n := noted{make(chan error, 2)}
	c.members[&librarySender{conn: c, to: n}] = struct{}{}
	c.ended(stream.Event{Reason: stream.DeletePublisher})
	select {
	case <-c.Done():
		t.Fatal("a producer that was closed has ended its connection")
	default:
	}
	lost := errors.New("lost")
	if !c.fail(lost) || c.fail(errors.New("again")) {
		t.Error("it has not ended once")
	}
	<-c.Done()
	if why := <-n.ended; why != lost || c.Err() != lost || len(n.ended) > 0 {
		t.Errorf("it ended by %v and %v, and told its producer %d times more", why, c.Err(), len(n.ended))
	}
	if err := c.join(t.Context(), &librarySender{conn: c}); !errors.Is(err, rabbit.ErrClosed) {
		t.Errorf("join after the end: %v", err)
	}
	c.Close(t.Context())
}

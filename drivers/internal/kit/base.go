package kit

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"sync"

	"sixnines/driver"
)

// Base is what the session of every driver has. It is safe for concurrent use.
type Base struct {
	*Errors
	Address

	Target driver.Target // its Dial and Notify are never nil
	TLS    *tls.Config   // nil: plain
	User   string
	Secret string          // the password of User
	Nonce  string          // six letters and digits that make names of this session its own
	Life   context.Context // ends when the session begins to close

	cancel context.CancelFunc
	mu     sync.Mutex
	serial int
	parts  map[Part]struct{} // nil: the session has closed
}

// Part is what a session's Close ends, such as a consumer. Shut ends it by ctx's
// deadline, and may be called more than once.
type Part interface {
	Shut(ctx context.Context) error
}

// NewBase returns the base of a session with the target. Its URL must have one of the
// schemes. user and secret, from the options, override those in the URL; one may come from
// each, such as a user in the URL and a password in the options.
func NewBase(e *Errors, t driver.Target, user, secret string, schemes ...Scheme) (*Base, error) {
	a, err := e.ParseURL(t.URL, schemes...)
	if err != nil {
		return nil, err
	}
	b := NewPlainBase(e, t)
	b.Address = a
	if err = b.login(user, secret); err != nil {
		return nil, err
	}
	if t.TLS != nil || slices.ContainsFunc(a.Servers, func(s Server) bool { return s.TLS }) {
		// The name is filled in for each server.
		if b.TLS, err = t.TLS.Config(""); err != nil {
			return nil, fmt.Errorf("%s: %w", e.Driver, err)
		}
		for i := range b.Servers {
			b.Servers[i].TLS = true
		}
	}
	return b, nil
}

// login joins what options and the URL say of the login.
func (b *Base) login(user, secret string) error {
	b.User, b.Secret = user, secret
	if b.Address.User == nil {
		return nil
	}
	there := b.Address.User.Username()
	password, has := b.Address.User.Password()
	if user != "" && secret == "" && has && there != "" && there != user {
		return b.Option("user", "the URL has a password, which is another user's; give both in the URL or both as options")
	}
	b.User = cmp.Or(user, there)
	b.Secret = cmp.Or(secret, password)
	return nil
}

// NeedsUser refuses a password without a user, for protocols that have no such login.
func (b *Base) NeedsUser() error {
	if b.Secret != "" && b.User == "" {
		return b.Option("password", "it needs user beside it, or in the URL")
	}
	return nil
}

// Apart returns a base that connects as b does, also when b has closed: for what is
// removed at the end.
func (b *Base) Apart() *Base {
	return &Base{Errors: b.Errors, Address: b.Address, Target: b.Target, TLS: b.TLS,
		User: b.User, Secret: b.Secret, Nonce: b.Nonce, Life: context.Background()}
}

// NewPlainBase returns the base of a session whose URL, login and encryption are read
// elsewhere.
func NewPlainBase(e *Errors, t driver.Target) *Base {
	b := &Base{Errors: e, Target: t, Nonce: strings.ToLower(rand.Text()[:6]), parts: map[Part]struct{}{}}
	if t.Dial == nil {
		b.Target.Dial = new(net.Dialer).DialContext
	}
	if t.Notify == nil {
		b.Target.Notify = func(driver.Event) {}
	}
	b.Life, b.cancel = context.WithCancel(context.Background())
	return b
}

// Login names the way in which connections log in, for Semantics.
func (b *Base) Login() string {
	certificate := b.TLS != nil && len(b.TLS.Certificates) > 0
	switch {
	case b.User != "" && certificate:
		return "user and password, and a client's certificate"
	case b.User != "":
		return "user and password"
	case b.Secret != "":
		return "password"
	case certificate:
		return "a client's certificate"
	}
	return "none"
}

// Keep lets Close end p, and numbers it from 0 on. The error is of class
// driver.ErrClosed once Close has begun.
func (b *Base) Keep(p Part) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.parts == nil {
		return 0, b.over("subscribe")
	}
	b.parts[p] = struct{}{}
	b.serial++
	return b.serial - 1, nil
}

// Forget takes p out of what Close ends.
func (b *Base) Forget(p Part) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.parts, p)
}

// Closed reports whether Close has begun.
func (b *Base) Closed() bool { return b.Life.Err() != nil }

// Stop ends what is still connecting, and lets nothing more be kept. It is for a session
// that cannot be made; Close calls it.
func (b *Base) Stop() (parts []Part) {
	b.cancel()
	b.mu.Lock()
	defer b.mu.Unlock()
	for p := range b.parts {
		parts = append(parts, p)
	}
	b.parts = nil
	return parts
}

// Close ends all that is kept, and what the functions end, at the same time and by
// ctx's deadline. Calling it twice is allowed.
func (b *Base) Close(ctx context.Context, also ...func(context.Context)) error {
	return end(ctx, b.Stop(), also)
}

// Drain does what Close does to what is kept now; the session goes on.
func (b *Base) Drain(ctx context.Context, also ...func(context.Context)) error {
	b.mu.Lock()
	var parts []Part
	for p := range b.parts {
		parts = append(parts, p)
	}
	clear(b.parts)
	b.mu.Unlock()
	return end(ctx, parts, also)
}

func end(ctx context.Context, parts []Part, also []func(context.Context)) error {
	errs := make([]error, len(parts))
	var closing sync.WaitGroup
	for i, p := range parts {
		closing.Go(func() { errs[i] = p.Shut(ctx) })
	}
	for _, f := range also {
		closing.Go(func() { f(ctx) })
	}
	closing.Wait()
	return errors.Join(errs...)
}

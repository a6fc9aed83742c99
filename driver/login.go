package driver

import "context"

// loginKey is the key of what is to be told of a login in a context.
type loginKey struct{}

// OnLogin returns a context for [Session.Consumer] and [Session.Producer] by which loggedIn is called, on any goroutine, when the
// broker has accepted a login of the connection that the client makes. It may be called more than once.
func OnLogin(ctx context.Context, loggedIn func()) context.Context {
	return context.WithValue(ctx, loginKey{}, loggedIn)
}

// LoggedIn says that the broker has accepted the login of the connection that ctx is of: what the protocol has before it takes
// anything else, such as a user and password or the exchange of versions. A driver calls it at once, with the context that it was
// given or one made of that.
func LoggedIn(ctx context.Context) {
	if f, ok := ctx.Value(loginKey{}).(func()); ok {
		f()
	}
}

package driver

import "context"

// Role says whose a connection is. Producers and consumers never share one.
type Role string

// The roles of connections.
const (
	RoleControl  Role = "control" // neither: what is asked, created and deleted
	RoleProducer Role = "producer"
	RoleConsumer Role = "consumer"
)

// roleKey is the key of a role in a context.
type roleKey struct{}

// WithRole returns a context for [Target.Dial] that says whose connection it makes. A driver says so of each, also when it
// connects again: otherwise the connections of producers or consumers alone cannot be cut once one was lost.
func WithRole(ctx context.Context, r Role) context.Context {
	return context.WithValue(ctx, roleKey{}, r)
}

// RoleOf returns the role that a context says; empty: none.
func RoleOf(ctx context.Context) Role {
	r, _ := ctx.Value(roleKey{}).(Role)
	return r
}

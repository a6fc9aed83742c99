// Package mesh connects the sockets of a run without a broker. Each socket binds to its
// own address, or connects to all addresses that the other side has bound, including
// those that are bound later.
//
// All sockets of a run are in this process. The sessions of a run share a [Room]. A
// [Session] contains the parts of a driver that do not depend on its library: names,
// roles, which sockets connect, and notifications.
package mesh

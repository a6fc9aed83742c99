// Package mesh brings the sockets of a run together where there is no broker at
// which they could meet. Every one of them binds to an address of its own, or
// connects to all that the other side has bound: those that are there when it
// comes, and those that come later.
//
// All sockets of a run are in this process. A room is the run's; sessions of the
// run share it. A [Session] is all of a driver's that does not depend on its library:
// names, roles, who meets whom, and who is told of what.
package mesh

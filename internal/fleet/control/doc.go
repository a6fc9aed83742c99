// Package control is the control plane of a fleet: a NATS server with JetStream. It is one that the user has, or
// one in this process ([Start]).
//
// What a control plane acknowledges is on its disk: a stream of a run has one copy on a server that syncs each write,
// or three copies. The agents keep their records beside that until the coordinator has confirmed them.
package control

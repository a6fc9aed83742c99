// Package relay gives TCP connections of this machine's programs delays and a rate, and cuts them for a time, without any
// privilege.
//
// A relay is a process of its own ([Serve]), so that what it does takes nothing from the one that measures. A client that
// connects by [Via.Dial] gets a connection to the relay, which has one to the address that was asked for, and carries
// bytes both ways. Each piece that arrives is written when it is due, in order: a relay can neither lose nor reorder
// packets, since TCP hides both from it. What is cut is held back, as it is by a network that drops packets, and passes
// when the cut is over; new connections wait likewise.
//
// Connecting takes as long as over a real path: the request waits for the way to the broker, and its answer for the way back.
//
// The relay listens on loopback and serves those alone who know its token. It ends with the process that started it, and so do
// the connections.
package relay

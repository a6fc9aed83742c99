// Package kit is what the drivers of brokers have in common: addresses and logins,
// the errors of a session, connections that producers share and that are made again
// when they are lost, the messages that the broker has not answered, what is written
// together, and what stands between a connection and a consumer.
//
// A driver by a client library needs [Errors], [Base], [Pool] and [Gate]; one that
// speaks the protocol itself needs [Link], [Unanswered] and [Writer] besides.
// CONTRIBUTING.md shows both.
package kit

// Package zeromq is the driver for ZeroMQ by libzmq, the library in C. There is
// no broker: producers and consumers are sockets that talk to each other, and
// all of a run are in this process.
//
// There are two drivers, for two pairs of sockets. In "zeromq" producers publish
// and every consumer gets all messages of its topics (PUB and SUB); requests go
// from DEALER to ROUTER sockets and back, many at a time, where REQ and REP
// would wait for each reply before the next request. In "zeromq-pipeline" the
// consumers of a topic share its messages (PUSH and PULL).
//
// A published message is one frame: the name of its topic, a zero byte and the
// payload. Other messages are the payload alone, since each topic has sockets of
// its own. Publishers that share a connection share a socket; every consumer and
// requester has one.
//
// Nothing acknowledges a message. Done is called inside Send, when libzmq has
// copied the payload. libzmq writes from a thread of its own, so a later loss of
// the connection loses what was queued. It would drop messages for subscribers
// whose queue is full; here Send waits instead, unless the options say otherwise.
//
// The package needs libzmq and is built with the tag zeromq. Without them the
// drivers are listed, and Open says how to come by them.
package zeromq

import (
	"sixnines/driver"
	"sixnines/drivers/internal/mesh"
)

// Entry describes the driver for publishing and for requests.
func Entry() driver.Entry {
	return entry("zeromq", "ZeroMQ (libzmq): PUB and SUB, requests by DEALER and ROUTER; no broker", false)
}

// PipelineEntry describes the driver for consumers that share messages.
func PipelineEntry() driver.Entry {
	return entry("zeromq-pipeline", "ZeroMQ (libzmq): PUSH and PULL, the consumers of a topic share its messages; no broker", true)
}

func entry(name, summary string, pipeline bool) driver.Entry {
	options := DefaultOptions()
	return mesh.Entry(driver.Entry{Name: name, Summary: summary, Options: &options, Driver: newDriver(pipeline)}, pipeline, schemes())
}

// schemes are those of addresses.
func schemes() []string { return []string{"tcp", "ipc", "inproc"} }

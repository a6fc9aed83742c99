// Package nanomsg is the driver for the scalability protocols of nanomsg and
// nng by go.nanomsg.org/mangos. There is no broker: producers and consumers are
// sockets that talk to each other, and all of a run are in this process.
//
// There are two drivers, for two pairs of protocols. In "nanomsg" producers
// publish and every consumer gets all messages of its topics (PUB and SUB), and
// requests are answered (REQ and REP), many at a time, where the library's plain
// sockets would wait for each reply before the next request. In
// "nanomsg-pipeline" the consumers of a topic share its messages (PUSH and PULL).
//
// A published message is the name of its topic, a zero byte and the payload;
// subscribers throw away what they have not asked for, as the protocol has it.
// Other messages are the payload alone, since each topic has sockets of its own.
// Publishers that share a connection share a socket; every consumer and
// requester has one.
//
// The library lets applications bring protocols, which get its connections. By
// default the driver does: a message is written on the sender's thread and
// delivered on the goroutine that has read it, and a sender waits for a slow
// consumer by TCP's flow control. The library's own PUB drops messages when a
// queue of 128 is full, and its SUB the oldest ones; its PUSH starts a goroutine
// for each message. With the option sockets=library these are measured instead.
//
// Nothing acknowledges a message. Done is called inside Send, when the message
// has been written, or copied.
package nanomsg

import (
	"sixnines/driver"
	"sixnines/drivers/internal/mesh"
)

// Entry describes the driver for publishing and for requests.
func Entry() driver.Entry {
	return entry("nanomsg", "nanomsg (mangos): PUB and SUB, REQ and REP; no broker", false)
}

// PipelineEntry describes the driver for consumers that share messages.
func PipelineEntry() driver.Entry {
	return entry("nanomsg-pipeline", "nanomsg (mangos): PUSH and PULL, the consumers of a topic share its messages; no broker", true)
}

func entry(name, summary string, pipeline bool) driver.Entry {
	options := DefaultOptions()
	return mesh.Entry(driver.Entry{
		Name: name, Summary: summary, Capabilities: driver.Capabilities{TLS: true}, Options: &options,
		Driver: driver.New(options, (&network{pipeline: pipeline, directory: &mesh.Directory{}}).newSession, nil),
	}, pipeline, schemes())
}

// network makes sessions. Sockets of one run meet in its directory.
type network struct {
	pipeline  bool
	directory *mesh.Directory
}

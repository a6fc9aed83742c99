//go:build zeromq && cgo && !windows

package zeromq

import (
	"fmt"
	"maps"
	"strconv"

	"sixnines/driver"
	"sixnines/semantics"
)

// describe reports the settings in effect.
func (s *session) describe(sem *driver.Semantics, _ driver.Topology) {
	marks := s.marks()
	sem.Client = semantics.Client{Kind: semantics.Library, Name: "libzmq", Version: version()}
	sem.Server = driver.Server{Product: "libzmq", Version: version(), Protocol: "ZMTP 3.1"}
	sem.Batching = "none by the sender; the library's thread writes what has come to wait in one go"
	sem.Consumption = "push, delivered on a goroutine of the consumer's own"
	maps.Copy(sem.Settings, map[string]string{
		"sockets":     "XPUB and SUB, DEALER and ROUTER",
		"send_hwm":    mark(marks.send),
		"receive_hwm": mark(marks.receive),
		"full_queue":  "the sender waits",
		"linger":      s.options.Linger.String(),
		"io_threads":  strconv.Itoa(s.library.ioThreads()),
		"security":    s.options.Security,
		"keepalive":   buffer(s.options.KeepAlive > 0, s.options.KeepAlive.String()),
		"send_buffer": buffer(s.options.SendBuffer > 0, s.options.SendBuffer.String()),
		"recv_buffer": buffer(s.options.ReceiveBuffer > 0, s.options.ReceiveBuffer.String()),
		"greeting":    "each subscriber has one subscription more, by which publishers know that it is there",
	})
	if s.options.Security == "curve" {
		sem.Transport, sem.Encrypted = sem.Transport+", curve", true
	}
	if s.Pipeline {
		sem.Settings["sockets"] = "PUSH and PULL"
		delete(sem.Settings, "greeting")
	}
	if s.options.Full == "drop" && !s.Pipeline {
		sem.Settings["full_queue"] = "the message is dropped for that subscriber"
		if marks.send > 0 || marks.receive > 0 {
			sem.Warnings = append(sem.Warnings, fmt.Sprintf("publishers drop messages for a subscriber that has %s waiting: what is missing may have been dropped by the library", mark(marks.send)))
		}
	}
	if marks.send == 0 && marks.receive == 0 {
		sem.Settings["memory"] = "without limit: what consumers do not keep up with waits in this process"
	}
}

func mark(n int) string {
	if n == 0 {
		return "none"
	}
	return strconv.Itoa(n) + " messages"
}

func buffer(set bool, value string) string {
	if set {
		return value
	}
	return "the system's"
}

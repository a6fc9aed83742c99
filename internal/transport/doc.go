// Package transport makes the network connections of a run and watches them.
//
// Three things distinguish its connections from those of package net:
//
//   - A small write to a TCP socket does not tell Go's scheduler. A write through
//     the runtime gives the processor (P) up and asks for it back, which at some
//     ten thousand messages a second costs more than the write itself. Only where
//     the kernel says EAGAIN does the goroutine wait in the runtime's poller.
//   - A sender that is behind its schedule collects what it writes ([Conn.Cork])
//     and has it written by one system call, whatever client library is above.
//   - A read tells when the kernel received what it returned (SO_TIMESTAMPNS), so
//     that the time for which bytes lay in this machine before they were read can
//     be told from the broker's.
//
// Outside Linux, and on connections that are no TCP, it does without the first
// and the third.
package transport

// Package transport makes the network connections of a run and watches them.
//
// Four things distinguish its connections from those of package net:
//
//   - A small write to a TCP socket bypasses Go's scheduler. A write through the
//     runtime releases the processor (P) and acquires it again, which at some ten
//     thousand messages a second costs more than the write itself. The goroutine
//     waits only if the kernel returns EAGAIN.
//   - With up to 256 connections, each reader waits in the kernel, on a thread of
//     its own. A reader that waits in the runtime's poller is woken by the polling
//     thread, which must wake another thread to poll on: at 20,000 messages a second
//     over 8 connections on two cores, p99 was 1.4 to 1.5 times as high.
//     A reader that keeps up blocks without a non-blocking read before.
//   - A sender that is behind its schedule buffers its writes ([Conn.Cork]) and
//     sends them by one system call, whatever the client library.
//   - A read returns the kernel's receive time (SO_TIMESTAMPNS). It separates the
//     time that bytes waited on this machine before they were read from the
//     broker's time.
//
// Outside Linux, and on connections other than TCP, only the third applies.
package transport

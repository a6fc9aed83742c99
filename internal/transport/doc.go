// Package transport makes the network connections of a run and watches them.
//
// Four things distinguish its connections from those of package net:
//
//   - A small write to a TCP socket bypasses Go's scheduler. A write through
//     the runtime gives the processor (P) up and asks for it back, which at some
//     ten thousand messages a second costs more than the write itself. Only where
//     the kernel says EAGAIN does the goroutine wait.
//   - A reader waits in the kernel, on a thread of its own, for up to 256 connections.
//     One that waits in the runtime's poller is woken by way of the thread that polls,
//     which wakes another to poll on: at 20,000 messages a second over 8 connections
//     of two cores p99 was 1.4 to 1.5 times as high.
//     One that keeps up waits without asking first for what is not there.
//   - A sender that is behind its schedule collects what it writes ([Conn.Cork])
//     and has it written by one system call, whatever client library is above.
//   - A read returns the kernel's receive time (SO_TIMESTAMPNS), so
//     that the time for which bytes lay in this machine before they were read can
//     be separated from the broker's.
//
// Outside Linux, and on connections that are no TCP, only the third is left.
package transport

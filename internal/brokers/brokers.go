// Package brokers starts, watches and stops real message brokers on this
// machine, each in a process of its own, so that it can be frozen, killed and
// measured apart from the load generator.
//
// A broker started by [Start] without Options.Detach does not outlive this
// process. It ends when its standard input does, which the kernel closes even
// for a parent that was killed. On Linux the kernel also kills it with its parent
// (PR_SET_PDEATHSIG), even if it is frozen. It is in a process group of its own:
// a Ctrl-C meant for the generator leaves the broker alive until the run has
// drained.
package brokers

import "sixnines/internal/pid"

// ErrUnavailable says that this operating system does not support the operation.
var ErrUnavailable = pid.ErrUnavailable

// Package brokers starts, watches and stops real message brokers on this
// machine, each in a process of its own, so that it can be frozen, killed and
// weighed apart from the load generator.
//
// A broker started here cannot outlive the process that started it. It ends
// when its standard input does, which the kernel closes even for a parent that
// was killed; on Linux the kernel further kills it with its parent
// (PR_SET_PDEATHSIG), which also ends a frozen one. It sits in a process group
// of its own: a Ctrl-C meant for the generator leaves the broker alive until
// the run has drained.
package brokers

import (
	"errors"
	"runtime"
)

// ErrUnavailable says that this operating system does not offer what was asked.
var ErrUnavailable = errors.New("not available on " + runtime.GOOS)

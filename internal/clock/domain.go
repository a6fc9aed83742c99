package clock

import (
	"crypto/rand"
	"sync"
)

// domain is computed once: the boot id and the time namespace of a running
// process do not change.
var domain = sync.OnceValue(func() string {
	if d, ok := sharedDomain(); ok {
		return d
	}
	// Unknown must not look equal to another unknown.
	return "process:" + rand.Text()
})

// Domain names the clock that [Now] reads: two processes with equal Domain
// share it, so that an instant of one can be subtracted from an instant of the
// other. On Linux it consists of the boot id and the time namespace; elsewhere,
// or where the boot id cannot be read, it differs for each process.
//
// Machines resumed from one snapshot of a virtual machine have the same boot
// id and yet different clocks: a comparison of domains across hosts must make
// sure that they are one host.
func Domain() string { return domain() }

// Boot returns the boot id of this machine, which processes of one machine have in common, in containers and
// time namespaces too; empty where it is not known.
func Boot() string {
	id, _ := boot()
	return id
}

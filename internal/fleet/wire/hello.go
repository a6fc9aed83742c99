package wire

import (
	"fmt"
	"net"
	"net/netip"
	"time"
)

// Hello is what an agent says of itself. It does not change while the agent lives.
type Hello struct {
	ID     string            `json:"id"`   // made anew with each process, see [Identity]: two agents never have the same
	Name   string            `json:"name"` // by which people call it; unique in a fleet
	Labels map[string]string `json:"labels,omitempty"`
	// Host is the machine's name, and Clock that of the monotonic clock: agents with equal Clock on one
	// Host read the same one, and agents with equal Boot run on one machine, whatever its name.
	Host   string `json:"host"`
	Boot   string `json:"boot,omitempty"` // boot id; empty where the machine does not tell
	Clock  string `json:"clock"`
	System string `json:"system"` // operating system and architecture
	Cores  int    `json:"cores"`
	// Addresses are those of the machine's interfaces but loopback, by which a broker on it is known.
	Addresses []string  `json:"addresses,omitempty"`
	PID       int       `json:"pid"`
	Started   time.Time `json:"started"`
	Curve     string    `json:"curve"` // public key for [Seal]
	Allows    Allows    `json:"allows"`
}

// Allows is what an agent carries out, whoever asks. It is shown, and the agent decides.
type Allows struct {
	Drivers []string `json:"drivers"`
	Targets []string `json:"targets,omitempty"` // HOST:PORT or HOST:*; empty: all
	// Rate is the most messages a second that it sends; 0: no limit of its own. Size is the largest payload in bytes; 0: likewise.
	Rate        int64    `json:"rate,omitempty"`
	Size        int64    `json:"size,omitempty"`
	Connections int64    `json:"connections,omitempty"` // at a time; 0: all
	More        []string `json:"more,omitempty"`        // the names of what --allow gives it, without values
}

// Kind implements [Message].
func (*Hello) Kind() Kind { return KindHello }
func (*Hello) most() int  { return 64 << 10 }

// Check implements [Message].
func (h *Hello) Check() error {
	for _, err := range []error{
		checkID(h.ID), CheckName(h.Name), CheckLabels(h.Labels),
		checkText("the host", h.Host, 0, maxWord), checkText("the boot id", h.Boot, 0, maxWord),
		checkText("the clock", h.Clock, 1, 2*maxWord), checkText("the system", h.System, 1, maxWord), checkText("the key", h.Curve, 1, maxWord),
		h.Allows.check(), checkAddresses(h.Addresses),
	} {
		if err != nil {
			return err
		}
	}
	switch {
	case h.Cores < 1 || h.Cores > 1<<16:
		return fmt.Errorf("%d cores", h.Cores)
	case h.PID < 0:
		return fmt.Errorf("process %d", h.PID)
	case h.Started.Year() < 2000 || h.Started.Year() > 9999:
		return fmt.Errorf("started at %v", h.Started)
	}
	return nil
}

func checkAddresses(all []string) error {
	if len(all) > maxAddresses {
		return fmt.Errorf("%d addresses; at most %d", len(all), maxAddresses)
	}
	for _, a := range all {
		if _, err := netip.ParseAddr(a); err != nil || len(a) > maxWord {
			return fmt.Errorf("%.80q is not an address", a)
		}
	}
	return nil
}

// OwnAddresses are the addresses of this machine's interfaces but loopback, at most as many as a [Hello] holds.
func OwnAddresses() []string {
	var own []string
	all, _ := net.InterfaceAddrs() // without them a broker here is not known as such
	for _, a := range all {
		if n, ok := a.(*net.IPNet); ok && !n.IP.IsLoopback() && len(own) < maxAddresses {
			own = append(own, n.IP.String())
		}
	}
	return own
}

func (a *Allows) check() error {
	for _, l := range []struct {
		what string
		all  []string
		most int
	}{{"a driver", a.Drivers, maxWord}, {"a target", a.Targets, maxTargetLen}, {"an option", a.More, maxWord}} {
		if len(l.all) > MaxAllowed {
			return fmt.Errorf("%s: %d of them; at most %d", l.what, len(l.all), MaxAllowed)
		}
		for _, x := range l.all {
			if err := checkText(l.what, x, 1, l.most); err != nil {
				return err
			}
		}
	}
	if a.Rate < 0 || a.Size < 0 || a.Connections < 0 {
		return fmt.Errorf("limits of %d messages a second, %d bytes and %d connections", a.Rate, a.Size, a.Connections)
	}
	return nil
}

// SameClock reports whether instants of two agents' monotonic clocks can be subtracted as they are: the
// offset is exactly 0. The host's name is compared too, since machines that were resumed from one snapshot
// have the same boot id and yet different clocks.
func SameClock(a, b *Hello) bool { return a.Clock == b.Clock && a.Host == b.Host }

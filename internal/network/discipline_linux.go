package network

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"sixnines/scenario"
)

// discipline is a queueing discipline at the root of a device that Sixnines creates.
type discipline struct {
	Device Device `json:"device"`
}

// ours is the prefix of our devices' names in this process's namespace; in a namespace that we made every device is ours.
const ours = "s9-"

// check returns why the device cannot be ours.
func (d Device) check() error {
	if d.Name == "" || d.Namespace == "" && !strings.HasPrefix(d.Name, ours) {
		return fmt.Errorf("the device %q was not created by sixnines", d.Name)
	}
	return nil
}

func (d Device) String() string { return d.Name + placed(d.Namespace) }

// placed says in which namespace something is, for people.
func placed(namespace string) string {
	if namespace == "" {
		return ""
	}
	return " in the network namespace " + namespace
}

// at calls do with the device, in its namespace.
func (d Device) at(do func(netlink.Link) error) error {
	return inside(d.Namespace, func() error {
		l, err := netlink.LinkByName(d.Name)
		if err != nil {
			return fmt.Errorf("the device %s: %w", d.Name, err)
		}
		return do(l)
	})
}

// add puts the discipline for the conditions in: sch_netem or sch_tbf.
func (d discipline) add(means Means, c scenario.Conditions) error {
	return d.Device.at(func(l netlink.Link) error {
		q, err := disciplineOf(means, c, l.Attrs().Index)
		if err != nil {
			return err
		}
		if err := netlink.QdiscReplace(q); err != nil {
			return fmt.Errorf("%s on %s: %w", means, d.Device.Name, err)
		}
		return nil
	})
}

// openRate is that of a discipline whose conditions are over: faster than anything that a path of ours carries.
const openRate = scenario.BitRate(100_000_000_000)

// pass has the discipline pass packets that come from now on. It stays in: the kernel drops what waits in a discipline that is
// taken out. What waits for a rate goes at once, and what netem delays when it is due.
func (d discipline) pass(means Means, c scenario.Conditions) error {
	var open scenario.Conditions
	if c.Rate > 0 {
		open.Rate = openRate
	}
	return d.add(means, open)
}

// drain waits until nothing waits in a discipline that passes packets, and at most a second longer than the delay.
func (d discipline) drain(delay time.Duration) error {
	for end := time.Now().Add(delay + time.Second); time.Now().Before(end); time.Sleep(time.Millisecond) {
		s, err := d.statistics()
		if err != nil || s == nil || s.Queue.Qlen == 0 {
			return err
		}
	}
	return nil
}

// Kind implements journal.Undoing.
func (d *discipline) Kind() string { return disciplineKind }

// Check implements journal.Undoing.
func (d *discipline) Check() error { return d.Device.check() }

// Undo takes it out. It implements journal.Undoing.
func (d *discipline) Undo(context.Context) (did bool, err error) {
	err = d.Device.at(func(l netlink.Link) error {
		all, err := netlink.QdiscList(l)
		if err != nil {
			return err
		}
		for _, q := range all {
			if a := q.Attrs(); a.Parent == netlink.HANDLE_ROOT && a.Handle == handle {
				did = true
				return netlink.QdiscDel(q)
			}
		}
		return nil
	})
	return did, unlessGone(err)
}

// String implements journal.Undoing.
func (d *discipline) String() string {
	return "restore the queueing discipline of " + d.Device.String()
}

// unlessGone returns the error, unless it says that a device or its namespace is not there any more.
func unlessGone(err error) error {
	var gone netlink.LinkNotFoundError
	if errors.As(err, &gone) || errors.Is(err, unix.ENOENT) {
		return nil
	}
	return err
}

// statistics are the discipline's; nil, where it is not there.
func (d discipline) statistics() (found *netlink.QdiscStatistics, err error) {
	err = d.Device.at(func(l netlink.Link) error {
		all, err := netlink.QdiscList(l)
		for _, q := range all {
			if s := q.Attrs().Statistics; q.Attrs().Parent == netlink.HANDLE_ROOT && q.Attrs().Handle == handle && s != nil && s.Basic != nil && s.Queue != nil {
				found = s
			}
		}
		return err
	})
	return found, err
}

// counted returns what a discipline counted. The kernel counts as packets what has left; what waits and what the full queue
// dropped came, too. netem counts as requeued what it sends before others (net/sched/sch_netem.c, netem_enqueue).
func counted(means Means, s *netlink.QdiscStatistics) Counts {
	c := Counts{Packets: int64(s.Basic.Packets) + int64(s.Queue.Qlen) + int64(s.Queue.Drops), Bytes: int64(s.Basic.Bytes), Overflow: int64(s.Queue.Drops)}
	if means == Netem {
		c.Reordered = int64(s.Queue.Requeues)
	}
	return c
}

// handle is the name of our disciplines: 6969:.
const handle = 0x6969 << 16

// disciplineOf returns the discipline for a device's root. sch_tbf bounds its queue as a schedule does; sch_netem bounds it in packets
// alone, and those that it delays count.
func disciplineOf(means Means, c scenario.Conditions, index int) (netlink.Qdisc, error) {
	attrs := netlink.QdiscAttrs{LinkIndex: index, Handle: handle, Parent: netlink.HANDLE_ROOT}
	bytesPerSecond := uint64(c.Rate) / 8
	switch means {
	case TBF:
		burst := max(bytesPerSecond/1000, 2*1514) // a millisecond, or two packets
		limit := max(bytesPerSecond/uint64(time.Second/backlogTime), backlogBytes) + burst
		ticks := float64(burst) * float64(netlink.TIME_UNITS_PER_SEC) / float64(bytesPerSecond) * netlink.TickInUsec()
		return &netlink.Tbf{QdiscAttrs: attrs, Rate: bytesPerSecond, Limit: uint32(limit), Buffer: uint32(ticks)}, nil
	case Netem:
		n := netlink.NetemQdiscAttrs{Latency: uint32(c.Delay.Microseconds()), Limit: mostQueued, Rate64: bytesPerSecond}
		if c.Reorder > 0 {
			n.ReorderProb, n.Gap = float32(c.Reorder*100), 1
		}
		return netlink.NewNetem(attrs, n), nil
	}
	return nil, fmt.Errorf("%s is not a queueing discipline", means)
}

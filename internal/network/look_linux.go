package network

import (
	"context"
	"errors"
	"fmt"
	"net/netip"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"sixnines/internal/journal"
	"sixnines/scenario"
)

// Look finds out which means work here, by using each in a network namespace of its own, which is gone when
// it returns.
func Look() Machine {
	m := Machine{Why: map[Means]string{}}
	err := apart(func() error {
		if err := unix.Unshare(unix.CLONE_NEWNET); err != nil {
			return err
		}
		lo, err := netlink.LinkByName("lo")
		if err != nil {
			return err
		}
		if err := netlink.LinkSetUp(lo); err != nil {
			return err
		}
		for _, try := range []struct {
			means Means
			does  func(index int) error
		}{{Netem, tryDiscipline(Netem)}, {TBF, tryDiscipline(TBF)}, {TCX, tryLoss}, {NFQueue, tryQueue}} {
			if err := try.does(lo.Attrs().Index); err != nil {
				m.Why[try.means] = err.Error()
			}
		}
		return nil
	})
	if err != nil {
		why := "it needs the capability NET_ADMIN: run sixnines as root: " + err.Error()
		for _, p := range All() {
			if p.Means != Relay {
				m.Why[p.Means] = why
			}
		}
	}
	return m
}

func tryDiscipline(means Means) func(int) error {
	return func(index int) error {
		q, err := disciplineOf(means, scenario.Conditions{Delay: 1e6, Rate: 1e8}, index)
		if err != nil {
			return err
		}
		if err := netlink.QdiscReplace(q); errors.Is(err, unix.ENOENT) {
			return fmt.Errorf("this kernel has no sch_%s", means)
		} else if err != nil {
			return err
		}
		return netlink.QdiscDel(q)
	}
}

func tryLoss(int) error {
	l, err := newLoss(Device{Name: "lo"}, 0.5)
	if err != nil {
		return err
	}
	return errors.Join(l.attach(), l.close())
}

func tryQueue(int) error {
	q, err := openQueue(queueSpec{})
	if err != nil {
		return err
	}
	defer unix.Close(q.fd)
	for _, r := range rulesOf(Way{To: []netip.AddrPort{netip.MustParseAddrPort("127.0.0.1:9")}}, "", journal.Mark+"-try", q.number) {
		if err := r.add(); err != nil {
			return err
		}
		if _, err := r.Undo(context.Background()); err != nil {
			return err
		}
	}
	return nil
}

package drivertest

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"sixnines/driver"
)

// checkPrefix uses topics and groups under a prefix, and looks at what they are called at
// the broker where the harness can.
func checkPrefix(ctx context.Context, h *Harness) error {
	under := *h
	naming := h.Entry.Naming
	under.Target.Prefix = "px7" + naming.Separator
	if err := naming.CheckPrefix(h.Entry.Name, under.Target.Prefix); err != nil {
		return err
	}
	t := driver.Topology{Topics: []string{"t0", "t1"}}
	group := ""
	if h.can().Groups {
		group = naming.Group(under.Target.Prefix, "g0")
		t.Groups = []string{group}
	}
	return with(ctx, &under, t, func(r *rig) error {
		l, got := newLedger(), newInbox()
		if _, err := r.consumer(ctx, 0, group, got, t.Topics...); err != nil {
			return err
		}
		n, err := connectAndSend(ctx, r, l, t.Topics, 1, 10)
		if err := errors.Join(err, l.settled(ctx), got.filled(ctx, n)); err != nil {
			return err
		}
		if h.Leftovers == nil {
			return nil
		}
		names, err := h.Leftovers(r.run)
		if err != nil {
			return fmt.Errorf("list what %s has: %w", r.run, err)
		}
		for _, name := range names {
			// Where separators are no part of names, a hyphen stands for them.
			if before, _, _ := strings.Cut(name, r.run); !strings.Contains(before, under.Target.Prefix) && !strings.Contains(before, "px7-") {
				return fmt.Errorf("with the prefix %q something is called %q", under.Target.Prefix, name)
			}
		}
		return nil
	})
}

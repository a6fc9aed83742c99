package drivertest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"sixnines/driver"
)

// checkPrefix uses topics and groups under a prefix, and looks at what they are called at
// the broker where the harness can.
func checkPrefix(ctx context.Context, h *Harness) error {
	under := *h
	naming := h.Entry.Naming
	under.Target.Prefix = cmp.Or(h.Target.Prefix, "px7"+naming.Separator)
	flat := strings.TrimSuffix(under.Target.Prefix, naming.Separator) + "-"
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
			if before, _, _ := strings.Cut(name, r.run); !strings.Contains(before, under.Target.Prefix) && !strings.Contains(before, flat) {
				return fmt.Errorf("with the prefix %q something is called %q", under.Target.Prefix, name)
			}
		}
		return nil
	})
}

// checkGiven uses a topic that another run has made as one of the operator's, with messages
// of others in it, and looks whether it is left as it was.
func checkGiven(ctx context.Context, h *Harness) error {
	owned := driver.Topology{Topics: []string{"t0"}}
	if h.Given != nil {
		owned.Groups = []string{"g0"}
	}
	return with(ctx, h, owned, func(owner *rig) error {
		const others = 1 << 20 // no producer of connectAndSend
		l := newLedger()
		p, err := owner.producer(ctx, 0, "t0", h.size(), l)
		if err != nil {
			return err
		}
		if err := errors.Join(sendMany(l, p, others, 0, 5, h.size()), l.settled(ctx)); err != nil {
			return err
		}
		name, group := h.Entry.Naming.Name(driver.Target{Run: owner.run, Prefix: h.Target.Prefix}, "t0"), ""
		if h.Given != nil {
			name, group = h.Given(owner.run, "t0")
		}
		guest := *h
		guest.Target.Given = true
		t := driver.Topology{Topics: []string{name}}
		if group != "" {
			t.Groups = []string{group}
		}
		if err := with(ctx, &guest, t, func(r *rig) error {
			l, got := newLedger(), newInbox()
			if _, err := r.consumer(ctx, 0, group, got, name); err != nil {
				return err
			}
			n, err := connectAndSend(ctx, r, l, t.Topics, 1, 10)
			if group != "" {
				n += 5
			}
			if err := errors.Join(err, l.settled(ctx), got.has(ctx, letter{0, 9})); err != nil {
				return err
			}
			return got.kept(n)
		}); errors.Is(err, driver.ErrOption) {
			return inapplicable("with these options topics of others are refused: " + err.Error())
		} else if err != nil {
			return fmt.Errorf("as a guest: %w", err)
		}
		got, at := newInbox(), ""
		if h.Given != nil {
			at = "g0"
		}
		if _, err := owner.consumer(ctx, 0, at, got, "t0"); err != nil {
			return fmt.Errorf("after the guest has left: %w", err)
		}
		if err := errors.Join(sendMany(l, p, others, 5, 5, h.size()), l.settled(ctx), got.filled(ctx, 5)); err != nil {
			return fmt.Errorf("after the guest has left: %w", err)
		}
		return nil
	})
}

// RunLimited is Run for a target whose account has the driver's rights under Target.Prefix and no
// others: under another prefix it must be refused.
func RunLimited(t *testing.T, h Harness) {
	t.Helper()
	t.Run("limited", func(t *testing.T) {
		other := h
		other.Target.Prefix = "other" + h.Entry.Naming.Separator
		err := with(t.Context(), &other, topics("t0"), func(r *rig) error {
			_, err := r.consumer(t.Context(), 0, "", newInbox(), "t0")
			return err
		})
		if !errors.Is(err, driver.ErrForbidden) {
			t.Errorf("under another prefix: %v", err)
		}
	})
	Run(t, h)
}

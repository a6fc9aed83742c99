package drivertest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
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

// guest is a use of what exists: by a consumer on its own, or by one of a group that exists.
type guest struct {
	h           *Harness
	topic       string
	group       string // empty: on its own
	owned       driver.Topology
	ownersGroup string // empty: the owner has none
}

// others is the number of the owner's producer, and of none of connectAndSend.
const others = 1 << 20

// checkGiven uses a topic that another run has made as one of the operator's, with messages
// of others in it, and looks whether it is left as it was: by a consumer on its own, in a
// group that exists, and under names that do not exist.
func checkGiven(ctx context.Context, h *Harness) error {
	tried := 0
	for _, grouped := range []bool{false, true} {
		if grouped && (h.Entry.Naming.GivenGroup == "" || !h.can().Groups) {
			continue
		}
		if !grouped && !h.can().FanOut {
			continue // a consumer on its own would be one of a group
		}
		err := visit(ctx, h, grouped, h.can().Keeps)
		switch {
		case errors.Is(err, driver.ErrOption):
			return inapplicable("with these options topics of others are refused: " + err.Error())
		case errors.Is(err, driver.ErrUnsupported) && !grouped && h.Entry.Naming.GivenGroup != "":
			continue // each wants a group there
		case err != nil && grouped:
			return fmt.Errorf("with a group: %w", err)
		case err != nil:
			return fmt.Errorf("without a group: %w", err)
		}
		tried++
	}
	if tried == 0 {
		return errors.New("neither a consumer on its own nor one of a group is taken")
	}
	return nil
}

// visit has an owner make a topic, which keeps messages for later consumers if kept, and a guest use it.
func visit(ctx context.Context, h *Harness, grouped, kept bool) error {
	g := guest{h: h, owned: driver.Topology{Topics: []string{"t0"}, Late: kept}}
	if h.can().Groups && (grouped || kept) {
		g.ownersGroup = h.Entry.Naming.Group(h.Target.Prefix, "g0")
		g.owned.Groups = []string{g.ownersGroup}
	}
	made := false
	err := with(ctx, h, g.owned, func(owner *rig) error {
		made = true
		g.name(owner.run, grouped)
		return g.use(ctx, owner)
	})
	if kept && !made && errors.Is(err, driver.ErrUnsupported) {
		return visit(ctx, h, grouped, false)
	}
	return err
}

// name gives the guest the names at the broker of what the run has.
func (g *guest) name(run string, grouped bool) {
	n, owner := g.h.Entry.Naming, driver.Target{Run: run, Prefix: g.h.Target.Prefix}
	g.topic = n.Name(owner, "t0")
	group := n.Name(owner, "g0")
	if n.Apart {
		group = n.Group(owner.Prefix, "g0")
	}
	if g.h.Given != nil {
		g.topic, group = g.h.Given(run, "t0")
	}
	if grouped {
		g.group = group
	}
}

// use sends and consumes as a guest, beside messages of the owner's, and looks what the owner has then.
func (g *guest) use(ctx context.Context, owner *rig) error {
	const before, own, after = 5, 10, 5
	continues := g.group != "" && !g.h.Forgets
	l := newLedger()
	p, err := owner.producer(ctx, 0, "t0", g.h.size(), l)
	if err != nil {
		return err
	}
	if err := errors.Join(sendMany(l, p, others, 0, before, g.h.size()), l.settled(ctx)); err != nil {
		return err
	}
	if err := g.stay(ctx, func(r *rig, group string) error {
		l, got := newLedger(), newInbox()
		c, err := r.consumer(ctx, 0, group, got, g.topic)
		if err != nil {
			return err
		}
		n, err := connectAndSend(ctx, r, l, []string{g.topic}, 1, own)
		if continues && g.owned.Late {
			n += before // it goes on where it is
		}
		// As a run does: a broker may take a moment to notice one that only hangs up.
		return errors.Join(err, l.settled(ctx), got.has(ctx, letter{0, own - 1}), got.filled(ctx, n), c.Close(ctx))
	}, g.topic, g.group); err != nil {
		return fmt.Errorf("as a guest: %w", err)
	}
	if err := g.strayed(ctx, owner.run); err != nil {
		return err
	}
	expected := after
	if g.owned.Late && !continues {
		expected += before + own // nobody has consumed them
	}
	got := newInbox()
	if _, err := owner.consumer(ctx, 0, g.ownersGroup, got, "t0"); err != nil {
		return fmt.Errorf("after the guest has left: %w", err)
	}
	if err := errors.Join(sendMany(l, p, others, before, after, g.h.size()), l.settled(ctx), got.filled(ctx, expected)); err != nil {
		return fmt.Errorf("after the guest has left: %w", err)
	}
	return nil
}

// stay opens a session for which the names are the operator's, and calls f.
func (g *guest) stay(ctx context.Context, f func(r *rig, group string) error, topic, group string) error {
	here := *g.h
	here.Target.Given = true
	t := driver.Topology{Topics: []string{topic}, Producers: 1, Consumers: 1}
	if group != "" {
		t.Groups = []string{group}
	}
	return with(ctx, &here, t, func(r *rig) error { return f(r, group) })
}

// strayed names a topic, and a group, that do not exist: where they would have to, a guest is refused and
// neither is made.
func (g *guest) strayed(ctx context.Context, run string) error {
	if !g.h.can().Keeps || g.h.Keyed {
		return nil // topics come into being with their messages
	}
	other := func(name string) string {
		if strange := strings.Replace(name, run, run+"x", 1); strange != name {
			return strange
		}
		return name + "x"
	}
	names := [][2]string{{other(g.topic), g.group}}
	if g.group != "" && !g.h.Entry.Naming.GroupsJoin {
		names = append(names, [2]string{g.topic, other(g.group)})
	}
	for _, missing := range names {
		err := g.stay(ctx, func(r *rig, group string) error {
			_, err := r.consumer(ctx, 0, group, newInbox(), missing[0])
			return err
		}, missing[0], missing[1])
		if !errors.Is(err, driver.ErrNoTopic) && !errors.Is(err, driver.ErrUnsupported) {
			return fmt.Errorf("a guest of %q, group %q: %w instead of %w", missing[0], missing[1], cmp.Or(err, errNone), driver.ErrNoTopic)
		}
	}
	if g.h.Leftovers == nil {
		return nil
	}
	found, err := g.h.Leftovers(run + "x")
	if err == nil && len(found) > 0 {
		err = fmt.Errorf("a guest has made %q", found)
	}
	return err
}

// errNone stands for no error, where one is wanted.
var errNone = errors.New("no error")

// limitedChecks are those that between them ask the broker for all that a driver may want of it.
func limitedChecks() []string {
	return []string{"semantics are filled", "capabilities are real", "every message arrives once", "Sync is a round trip", "encrypted", "certificates are checked",
		"fan-out", "groups share", "consumers acknowledge", "what is kept can be used", "what is kept can be read back", "the depth of a queue is right",
		"requests are answered", "Deprovision leaves nothing", "names begin with the prefix", "topics of others are used and left"}
}

// RunLimited runs those checks of Run that need different rights, for a target whose account has the driver's
// under Target.Prefix and no others: under another prefix, or Elsewhere, it must be refused.
func RunLimited(t *testing.T, h Harness) {
	t.Helper()
	t.Run("limited", func(t *testing.T) {
		other := h
		if other.Target.Prefix = "other" + h.Entry.Naming.Separator; h.Elsewhere != nil {
			other.Target = *h.Elsewhere
		}
		err := with(t.Context(), &other, topics("t0"), func(r *rig) error {
			_, err := r.consumer(t.Context(), 0, "", newInbox(), "t0")
			return err
		})
		if !errors.Is(err, driver.ErrForbidden) {
			t.Errorf("under another prefix: %v", err)
		}
	})
	if h.Encrypted == nil && h.Target.TLS != nil {
		h.Encrypted = &h.Target
	}
	names := limitedChecks()
	all := slices.DeleteFunc(checks(), func(c check) bool { return !slices.Contains(names, c.name) })
	if len(all) != len(names) {
		t.Fatalf("of the checks %q there are %d", names, len(all))
	}
	runAll(t, &h, all)
}

package network

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/netip"
	"os/exec"
	"slices"
	"strings"

	"sixnines/internal/journal"
)

// Programs that change rules, by address family.
const (
	restore4 = "iptables-legacy-restore"
	restore6 = "ip6tables-legacy-restore"
)

// Where packets are queued.
const (
	hookIn  = "INPUT"
	hookOut = "OUTPUT"
)

// missing says what to do where they are not installed.
const missing = "the program iptables-legacy-restore is not installed: apt-get install iptables, or your system's package of that name"

// rules are our chain in the table mangle, with the jump to it, which queue the packets of a way.
type rules struct {
	Namespace string `json:"namespace,omitempty"`
	Program   string `json:"program"` // restore4 or restore6
	Chain     string `json:"chain"`
	Hook      string `json:"hook"` // hookIn or hookOut
	lines     []string
}

// rulesOf returns the rules that queue the packets of a way in a namespace under a number, for each address family that it
// has.
func rulesOf(w Way, namespace, name string, number uint16) (all []rules) {
	for _, v := range []struct {
		program string
		of      func(netip.Addr) bool
	}{{restore4, func(a netip.Addr) bool { return a.Unmap().Is4() }}, {restore6, func(a netip.Addr) bool { return !a.Unmap().Is4() }}} {
		from, to := family(w.From, v.of), family(w.To, v.of)
		if len(w.From) > 0 && len(from) == 0 || len(w.To) > 0 && len(to) == 0 {
			continue
		}
		r := rules{Namespace: namespace, Program: v.program, Chain: name, Hook: hookIn}
		if w.Leaves {
			r.Hook = hookOut
		}
		for _, s := range ends(from) {
			for _, d := range ends(to) {
				r.lines = append(r.lines, "-A "+name+" -p tcp"+matches(s, "-s", "--sport")+matches(d, "-d", "--dport")+
					fmt.Sprintf(" -j NFQUEUE --queue-num %d --queue-bypass", number))
			}
		}
		all = append(all, r)
	}
	return all
}

func family(all []netip.AddrPort, of func(netip.Addr) bool) []netip.AddrPort {
	return slices.DeleteFunc(slices.Clone(all), func(a netip.AddrPort) bool { return !of(a.Addr()) })
}

// ends returns the addresses, or one that stands for every address.
func ends(all []netip.AddrPort) []netip.AddrPort {
	if len(all) == 0 {
		return []netip.AddrPort{{}}
	}
	return all
}

func matches(a netip.AddrPort, address, port string) (text string) {
	if a.Addr().IsValid() && !a.Addr().IsUnspecified() {
		text = " " + address + " " + a.Addr().Unmap().WithZone("").String()
	}
	if a.Port() != 0 {
		text += fmt.Sprintf(" %s %d", port, a.Port())
	}
	return text
}

// add puts the rules in, at once: packets are queued by all of them or by none.
func (r rules) add() error {
	return r.change(append([]string{":" + r.Chain + " - [0:0]"}, append(slices.Clone(r.lines), "-A "+r.jump())...))
}

// Kind implements journal.Undoing.
func (r *rules) Kind() string { return rulesKind }

// Check implements journal.Undoing.
func (r *rules) Check() error {
	switch {
	case !strings.HasPrefix(r.Chain, journal.Mark):
		return fmt.Errorf("the chain %q was not created by sixnines", r.Chain)
	case r.Program != restore4 && r.Program != restore6, r.Hook != hookIn && r.Hook != hookOut:
		return fmt.Errorf("rules of %s by %s were not created by sixnines", r.Hook, r.Program)
	}
	return nil
}

// Undo takes them out, at once. It implements journal.Undoing.
func (r *rules) Undo(context.Context) (did bool, err error) {
	if err = r.change([]string{"-D " + r.jump(), "-F " + r.Chain, "-X " + r.Chain}); err == nil {
		return true, nil
	}
	if there, unknown := r.exist(); unknown == nil && !there {
		return false, nil
	}
	return false, unlessGone(err)
}

// String implements journal.Undoing.
func (r *rules) String() string { return "remove the rules in " + r.Chain + placed(r.Namespace) }

func (r rules) jump() string {
	return r.Hook + ` -m comment --comment "made by sixnines" -j ` + r.Chain
}

func (r rules) exist() (bool, error) {
	out, err := r.run(strings.TrimSuffix(r.Program, "-restore")+"-save", nil, "-t", "mangle")
	return bytes.Contains(out, []byte(":"+r.Chain+" ")), err
}

// change commits lines to the table mangle, and leaves what others have there.
func (r rules) change(lines []string) error {
	_, err := r.run(r.Program, []byte("*mangle\n"+strings.Join(lines, "\n")+"\nCOMMIT\n"), "--noflush", "--wait", "5")
	return err
}

func (r rules) run(program string, in []byte, args ...string) (out []byte, err error) {
	return out, inside(r.Namespace, func() error {
		c := exec.Command(program, args...)
		c.Stdin = bytes.NewReader(in)
		var words bytes.Buffer
		c.Stderr = &words
		out, err = c.Output()
		if errors.Is(err, exec.ErrNotFound) {
			return errors.New(missing)
		}
		if err != nil {
			first, _, _ := strings.Cut(strings.TrimSpace(words.String()), "\n")
			return fmt.Errorf("%s: %w: %s", program, err, first)
		}
		return nil
	})
}

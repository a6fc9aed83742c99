package vitals

import (
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"

	"sixnines/internal/spell"
)

func (m machine) checkLoopback() Check {
	const advice = "ip link set lo up mtu 65536: brokers on this machine are reached through it"
	flags, err := m.word("sys/class/net/lo/flags")
	if err != nil {
		return unknown(err, advice)
	}
	bits, err := strconv.ParseUint(flags, 0, 32)
	if err != nil {
		return unknown(fmt.Errorf("/sys/class/net/lo/flags: %q is not a number", flags), advice)
	}
	if bits&1 == 0 { // IFF_UP
		return fail("down", advice)
	}
	mtu, err := m.word("sys/class/net/lo/mtu")
	if err != nil {
		return unknown(err, advice)
	}
	if n, err := strconv.Atoi(mtu); err != nil || n < 16384 {
		return note("up, mtu "+mtu, advice)
	}
	return good("up, mtu " + mtu)
}

func (m machine) checkSlowStart() Check {
	const advice = "sysctl -w net.ipv4.tcp_slow_start_after_idle=0 on both sides: otherwise large messages after a pause are sent in several rounds"
	v, err := m.word("proc/sys/net/ipv4/tcp_slow_start_after_idle")
	switch {
	case err != nil:
		return unknown(err, advice)
	case v != "0":
		return note("slow start after a pause", advice)
	}
	return good("keeps its window")
}

// nic reads the settings of network interfaces.
type nic interface {
	// offloads returns which of segmentation and receive offloads are on.
	offloads(name string) (offloads, error)
	coalescing(name string) (coalescing, error)
}

// offloads are those by which a large write goes through the stack once.
type offloads struct{ tso, gso, gro bool }

// coalescing is how an interface delays interrupts.
type coalescing struct {
	rxDelay, txDelay uint32 // µs
	adaptive         bool   // the driver changes it
}

func checkOffloads(p probe) Check {
	const advice = "ethtool -K lo tso on gso on gro on: otherwise a large message passes through the stack in many small pieces"
	if p.nic == nil {
		return unknown(errNotOffered, advice)
	}
	o, err := p.nic.offloads("lo")
	if err != nil {
		return unknown(err, advice)
	}
	var off []string
	for _, s := range []struct {
		name string
		on   bool
	}{{"tso", o.tso}, {"gso", o.gso}, {"gro", o.gro}} {
		if !s.on {
			off = append(off, s.name)
		}
	}
	if len(off) > 0 {
		return note(strings.Join(off, ", ")+" off", advice)
	}
	return good("tso, gso, gro on")
}

// checkCards looks at the interfaces that have a device behind them and are up.
func (m machine) checkCards(p probe) Check {
	const advice = "this matters for brokers on other machines: see ethtool and ip link"
	entries, err := fs.ReadDir(m.root, "sys/class/net")
	if err != nil {
		return unknown(err, advice)
	}
	var found []string
	worst := good("")
	for _, e := range entries {
		dir := "sys/class/net/" + e.Name()
		if _, err := fs.Stat(m.root, dir+"/device"); err != nil {
			continue
		}
		if state, err := m.word(dir + "/operstate"); err != nil || state == "down" {
			continue
		}
		c := m.card(p, e.Name())
		found = append(found, c.Found)
		if worst.Advice == "" || c.Status == StatusWarn && worst.Status != StatusWarn {
			worst = c
		}
	}
	if len(found) == 0 {
		return note("none found", "brokers on this machine need no network card")
	}
	worst.Found = strings.Join(found, "; ")
	return worst
}

// slowLink is the speed below which a link is reported, Mbit/s.
const slowLink = 1000

// card looks at one interface.
func (m machine) card(p probe, name string) Check {
	parts := []string{}
	var advice []string
	status := StatusOK
	if mtu, err := m.word("sys/class/net/" + name + "/mtu"); err == nil {
		parts = append(parts, "mtu "+mtu)
	}
	speed, err := m.word("sys/class/net/" + name + "/speed")
	mbit, badSpeed := strconv.Atoi(speed)
	switch {
	case err != nil || badSpeed != nil || mbit <= 0: // virtual ones give an error, or -1
		parts = append(parts, "speed "+Unknown+" (its driver does not say)")
		status, advice = StatusNote, append(advice, "find out the speed of the link")
	default:
		parts = append(parts, spell.Count(mbit)+" Mbit/s")
		if mbit < slowLink {
			status, advice = StatusWarn, append(advice, fmt.Sprintf("use a faster link: 1 KiB takes %s on the wire", spell.Nanoseconds(1e3*8*1024/float64(mbit))))
		}
	}
	c, err := coalescing{}, errNotOffered
	if p.nic != nil {
		c, err = p.nic.coalescing(name)
	}
	switch {
	case err != nil:
		parts = append(parts, "interrupt coalescing "+Unknown+" ("+reason(err)+")")
		status = worse(status, StatusNote)
		advice = append(advice, "see ethtool -c "+name+" on the host")
	case c.adaptive:
		parts = append(parts, fmt.Sprintf("interrupts are coalesced adaptively, now for %d µs", c.rxDelay))
		status = worse(status, StatusNote)
		advice = append(advice, "ethtool -C "+name+" adaptive-rx off rx-usecs 0, for brokers on other machines: otherwise latency depends on the preceding load")
	case c.rxDelay > 0 || c.txDelay > 0:
		parts = append(parts, fmt.Sprintf("interrupts are coalesced for %d µs (receive), %d µs (send)", c.rxDelay, c.txDelay))
		status = worse(status, StatusNote)
		advice = append(advice, "ethtool -C "+name+" rx-usecs 0, for brokers on other machines: each reply takes this much longer")
	default:
		parts = append(parts, "interrupts are not coalesced")
	}
	return Check{Status: status, Found: name + " " + strings.Join(parts, ", "), Advice: strings.Join(advice, "; ")}
}

// worse returns the worse of two statuses.
func worse(a, b string) string {
	order := []string{StatusOK, StatusNote, StatusWarn, StatusFail}
	return order[max(slices.Index(order, a), slices.Index(order, b))]
}

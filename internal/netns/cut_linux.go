package netns

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net/netip"
	"strconv"

	"github.com/google/nftables"
	"github.com/google/nftables/binaryutil"
	"github.com/google/nftables/expr"
	"golang.org/x/sys/unix"

	"sixnines/internal/clock"
)

// Cut drops the packets of directions of a network until it is undone.
type Cut struct {
	// Began and Ended are when the kernel acknowledged that packets are dropped, and that they
	// pass again, CLOCK_MONOTONIC; Ended is 0 before Undo.
	Began, Ended int64

	network *Network
	links   []Link
	table   *nftables.Table
	chain   *nftables.Chain
}

// Cut begins to drop the packets of the directions, all at once, and returns when the kernel
// has acknowledged that. Cuts may overlap. Frames of address resolution pass.
func (n *Network) Cut(links []Link) (*Cut, error) {
	if len(links) == 0 {
		return nil, errors.New("netns: a cut of nothing")
	}
	n.mu.Lock()
	n.cuts++
	number := n.cuts
	n.mu.Unlock()
	c := &Cut{network: n, links: append([]Link(nil), links...)}
	err := c.batch(func(b *nftables.Conn) error {
		c.table = b.AddTable(&nftables.Table{Name: "sixnines-cut-" + strconv.Itoa(number), Family: nftables.TableFamilyBridge})
		c.chain = b.AddChain(&nftables.Chain{Name: "forward", Table: c.table, Type: nftables.ChainTypeFilter,
			Hooknum: nftables.ChainHookForward, Priority: nftables.ChainPriorityFilter})
		for _, l := range links {
			from, err := n.portAt(l.From)
			if err != nil {
				return err
			}
			to, err := n.portAt(l.To)
			if err != nil {
				return err
			}
			drop := func(op expr.CmpOp, protocol uint16, rest ...expr.Any) {
				b.AddRule(&nftables.Rule{Table: c.table, Chain: c.chain, Exprs: append([]expr.Any{
					&expr.Meta{Key: expr.MetaKeyIIF, Register: 1},
					&expr.Cmp{Op: expr.CmpOpEq, Register: 1, Data: binaryutil.NativeEndian.PutUint32(uint32(from))},
					&expr.Meta{Key: expr.MetaKeyOIF, Register: 1},
					&expr.Cmp{Op: expr.CmpOpEq, Register: 1, Data: binaryutil.NativeEndian.PutUint32(uint32(to))},
					&expr.Meta{Key: expr.MetaKeyPROTOCOL, Register: 1},
					&expr.Cmp{Op: op, Register: 1, Data: binary.BigEndian.AppendUint16(nil, protocol)},
				}, append(rest, &expr.Verdict{Kind: expr.VerdictDrop})...)})
			}
			// What the kernel sends by itself over IPv6 is dropped, and not counted.
			drop(expr.CmpOpEq, unix.ETH_P_IP, &expr.Counter{})
			drop(expr.CmpOpNeq, unix.ETH_P_ARP)
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("netns: cut: %w", err)
	}
	c.Began = clock.Now()
	return c, nil
}

// batch carries out what f adds, as one transaction of the switch's namespace.
func (c *Cut) batch(f func(*nftables.Conn) error) error {
	c.network.mu.Lock()
	defer c.network.mu.Unlock()
	if c.network.hub == nil {
		return errors.New("the network is closed")
	}
	b, err := nftables.New(nftables.WithNetNSFd(c.network.hub.fd()))
	if err != nil {
		return err
	}
	if err := f(b); err != nil {
		return err
	}
	if err := b.Flush(); err != nil {
		if errors.Is(err, unix.EOPNOTSUPP) || errors.Is(err, unix.EAFNOSUPPORT) || errors.Is(err, unix.ENOENT) {
			return fmt.Errorf("the kernel needs nftables for bridges (CONFIG_NF_TABLES_BRIDGE): %w", err)
		}
		return err
	}
	return nil
}

// portAt returns the index of the switch's port behind which an address is. n.mu is held.
func (n *Network) portAt(a netip.Addr) (int, error) {
	if a == n.Host() {
		return n.port, nil
	}
	for _, node := range n.nodes {
		if node.Addr == a {
			return node.port, nil
		}
	}
	return 0, fmt.Errorf("%s is no address of this network", a)
}

// Dropped returns what was dropped so far, in the order of the directions.
func (c *Cut) Dropped() ([]Dropped, error) {
	var all []Dropped
	err := c.batch(func(b *nftables.Conn) error {
		rules, err := b.GetRules(c.table, c.chain)
		if err != nil {
			return err
		}
		for _, r := range rules {
			for _, x := range r.Exprs {
				if n, ok := x.(*expr.Counter); ok && len(all) < len(c.links) {
					all = append(all, Dropped{Link: c.links[len(all)], Packets: n.Packets, Bytes: n.Bytes})
				}
			}
		}
		return nil
	})
	if err == nil && len(all) < len(c.links) {
		err = fmt.Errorf("%d of %d counters are there", len(all), len(c.links))
	}
	if err != nil {
		return nil, fmt.Errorf("netns: what a cut dropped: %w", err)
	}
	return all, nil
}

// Undo lets all packets pass again, notes when the kernel has acknowledged that, removes the
// rules, and returns what they dropped, to the packet: they count nothing behind the rule that
// lets all pass.
func (c *Cut) Undo() ([]Dropped, error) {
	err := c.batch(func(b *nftables.Conn) error {
		b.InsertRule(&nftables.Rule{Table: c.table, Chain: c.chain, Exprs: []expr.Any{&expr.Verdict{Kind: expr.VerdictAccept}}})
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("netns: undo a cut: %w", err)
	}
	c.Ended = clock.Now()
	all, unknown := c.Dropped()
	if err := c.batch(func(b *nftables.Conn) error { b.DelTable(c.table); return nil }); err != nil {
		return all, fmt.Errorf("netns: remove the rules of a cut: %w", err)
	}
	return all, unknown
}

package network

import (
	"context"
	"errors"
	"fmt"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"
	"github.com/cilium/ebpf/link"
	"github.com/vishvananda/netlink"

	"sixnines/scenario"
)

// loss is a program at TCX that drops packets that arrive at one of our devices. The kernel takes it away when
// its descriptors are closed, so when this process ends in any way. Packets are not dropped where they leave: the sender's
// TCP learns of that at once, and sends them again without the loss of a path (measured: 3 counted of 147).
type loss struct {
	counted *ebpf.Map // of packets: 0 passed, 1 dropped
	program *ebpf.Program
	link    link.Link // nil until it is attached
	in      Device
}

// What a program at TCX returns.
const (
	tcxNext = -1
	tcxDrop = 2
)

// thresholdBits is the resolution of a share: a comparison with an immediate is signed, so one bit is lost.
const thresholdBits = 31

// newLoss loads the program.
func newLoss(in Device, share scenario.Share) (*loss, error) {
	counted, err := ebpf.NewMap(&ebpf.MapSpec{Name: "sixnines_loss", Type: ebpf.Array, KeySize: 4, ValueSize: 8, MaxEntries: 2})
	if err != nil {
		return nil, fmt.Errorf("create the map of the packet-dropping program: %w", err)
	}
	// Draws below the threshold are dropped. It is compared with its predecessor, which fits.
	threshold := max(1, int64(float64(share)*(1<<thresholdBits)))
	program, err := ebpf.NewProgram(&ebpf.ProgramSpec{Name: "sixnines_loss", Type: ebpf.SchedCLS, License: "GPL", Instructions: asm.Instructions{
		asm.FnGetPrandomU32.Call(),
		asm.And.Imm(asm.R0, 1<<thresholdBits-1),
		asm.Mov.Imm(asm.R6, 0),
		asm.JGT.Imm(asm.R0, int32(threshold-1), "count"),
		asm.Mov.Imm(asm.R6, 1),
		asm.StoreMem(asm.RFP, -4, asm.R6, asm.Word).WithSymbol("count"),
		asm.Mov.Reg(asm.R2, asm.RFP),
		asm.Add.Imm(asm.R2, -4),
		asm.LoadMapPtr(asm.R1, counted.FD()),
		asm.FnMapLookupElem.Call(),
		asm.JEq.Imm(asm.R0, 0, "decide"),
		asm.Mov.Imm(asm.R1, 1),
		asm.StoreXAdd(asm.R0, asm.R1, asm.DWord),
		asm.Mov.Imm(asm.R0, tcxNext).WithSymbol("decide"),
		asm.JEq.Imm(asm.R6, 0, "exit"),
		asm.Mov.Imm(asm.R0, tcxDrop),
		asm.Return().WithSymbol("exit"),
	}})
	if err != nil {
		return nil, errors.Join(fmt.Errorf("load the packet-dropping program: %w", err), counted.Close())
	}
	return &loss{counted: counted, program: program, in: in}, nil
}

// attach has packets dropped.
func (l *loss) attach() error {
	return l.in.at(func(n netlink.Link) error {
		a, err := link.AttachTCX(link.TCXOptions{Interface: n.Attrs().Index, Program: l.program, Attach: ebpf.AttachTCXIngress})
		if err != nil {
			return fmt.Errorf("tcx on %s: %w", l.in.Name, err)
		}
		l.link = a
		return nil
	})
}

// count reads what the program counted.
func (l *loss) count() (Counts, error) {
	var n [2]int64
	for k := range n {
		if err := l.counted.Lookup(uint32(k), &n[k]); err != nil {
			return Counts{}, fmt.Errorf("read the counts of the packet-dropping program: %w", err)
		}
	}
	return Counts{Packets: n[0] + n[1], Lost: n[1]}, nil
}

// detach has no packets dropped from then on. It may be called again.
func (l *loss) detach() error {
	if l.link == nil {
		return nil
	}
	err := l.link.Close()
	l.link = nil
	return err
}

func (l *loss) close() error { return errors.Join(l.detach(), l.program.Close(), l.counted.Close()) }

// segments is how many packets one of our devices may hand on as one large one. Where packets are lost it is one: a large one
// would be lost with all of them.
type segments struct {
	Device Device `json:"device"`
	Most   int    `json:"most"` // what the device had
}

func segmentsOf(d Device) (s segments, err error) {
	s.Device = d
	err = d.at(func(n netlink.Link) error {
		s.Most = int(n.Attrs().GSOMaxSegs)
		return nil
	})
	return s, err
}

func (s segments) set(most int) error {
	err := s.Device.at(func(n netlink.Link) error { return netlink.LinkSetGSOMaxSegs(n, most) })
	if err != nil {
		return fmt.Errorf("packets of %s: %w", s.Device.Name, err)
	}
	return nil
}

// Kind implements journal.Undoing.
func (s *segments) Kind() string { return segmentsKind }

// Check implements journal.Undoing.
func (s *segments) Check() error {
	if s.Most <= 0 {
		return fmt.Errorf("%d packets at once", s.Most)
	}
	return s.Device.check()
}

// Undo restores what the device had. It implements journal.Undoing.
func (s *segments) Undo(context.Context) (did bool, err error) {
	err = s.set(s.Most)
	return err == nil, unlessGone(err)
}

// String implements journal.Undoing.
func (s *segments) String() string { return "restore how packets leave " + s.Device.String() }

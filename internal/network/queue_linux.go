package network

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"sixnines/internal/clock"
)

// The kernel's interface to packets that an NFQUEUE rule queued: linux/netfilter/nfnetlink_queue.h.
const (
	queueSubsystem = 3 << 8 // NFNL_SUBSYS_QUEUE
	msgPacket      = 0
	msgVerdict     = 1
	msgConfig      = 2
	msgBatch       = 3 // a verdict for all packets up to a number

	cfgCommand, cfgParams, cfgMost, cfgMask, cfgFlags = 1, 2, 3, 4, 5
	bind                                              = 1
	copyMeta, copyPacket                              = 1, 2
	flagFailOpen, flagGSO                             = 1, 4

	attrHeader, attrVerdict, attrSize = 1, 2, 13

	accept, drop = 1, 0
	// mostQueued is how many packets wait at most; the kernel drops beyond.
	mostQueued = 1 << 16
	// headerBytes are copied where the size of packets is asked for: the kernel tells it only then.
	headerBytes = 20
	// receiveBuffer holds what the kernel says of packets that were not read yet.
	receiveBuffer = 32 << 20
)

// queue is an NFQUEUE. One goroutine, locked to its thread, runs it.
type queue struct {
	fd       int
	number   uint16
	schedule *schedule
	whole    bool        // packets stay as large as the sender's kernel made them
	over     atomic.Bool // no packet waits any more

	held       []waiting // packets that wait, by the instants at which they leave
	first      int       // index of the first of them; those before it have left
	in, out    []byte
	early      int64 // how long before a packet is due the thread wakes, see run
	late       int64 // sum over packets that left, of how much later than due
	left       int64 // packets that left
	before     int64 // when the last packet left
	lateMost   int64
	batchBytes []byte
}

// waiting is a packet that leaves at an instant, CLOCK_MONOTONIC ns.
type waiting struct {
	due     int64
	id      uint32
	size    uint32 // in bytes; 0: not known
	limited bool   // it waits for the rate
}

// openQueue opens a queue in the namespace of the calling thread under a free number. Packets pass it
// until hold.
func openQueue(s queueSpec) (*queue, error) {
	fd, err := unix.Socket(unix.AF_NETLINK, unix.SOCK_RAW|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, unix.NETLINK_NETFILTER)
	if err != nil {
		return nil, fmt.Errorf("a netfilter socket: %w", err)
	}
	q := &queue{fd: fd, schedule: newSchedule(s), whole: s.whole(), in: make([]byte, 1<<17), out: make([]byte, 0, 64), held: make([]waiting, 0, mostQueued)}
	if err := q.configure(s); err != nil {
		return nil, errors.Join(err, unix.Close(fd))
	}
	return q, nil
}

func (q *queue) configure(s queueSpec) error {
	if err := unix.Bind(q.fd, &unix.SockaddrNetlink{Family: unix.AF_NETLINK}); err != nil {
		return fmt.Errorf("bind the netfilter socket: %w", err)
	}
	// A buffer that is too small loses packets, and the kernel counts them: see full.
	if unix.SetsockoptInt(q.fd, unix.SOL_SOCKET, unix.SO_RCVBUFFORCE, receiveBuffer) != nil {
		_ = unix.SetsockoptInt(q.fd, unix.SOL_SOCKET, unix.SO_RCVBUF, receiveBuffer)
	}
	_ = unix.SetsockoptInt(q.fd, unix.SOL_NETLINK, unix.NETLINK_NO_ENOBUFS, 1)
	// Numbers are 16 bits, and one that somebody reads is refused: EBUSY or EPERM, by kernel.
	var err error
	for range 32 {
		q.number = 0x6000 + uint16(rand.IntN(0x1000))
		if err = q.ask(attr(nil, cfgCommand, []byte{bind, 0, 0, unix.AF_INET})); err == nil {
			break
		}
		if !errors.Is(err, unix.EBUSY) && !errors.Is(err, unix.EPERM) {
			break
		}
	}
	if err != nil {
		return fmt.Errorf("create a netfilter queue: %w", err)
	}
	params := append(binary.BigEndian.AppendUint32(nil, 0), copyMeta)
	if s.Conditions.Rate > 0 {
		params = append(binary.BigEndian.AppendUint32(nil, headerBytes), copyPacket)
	}
	if err := q.ask(attr(nil, cfgParams, params)); err != nil {
		return fmt.Errorf("set the parameters of a netfilter queue: %w", err)
	}
	q.over.Store(true)
	for _, attrs := range [][]byte{flagged(flagFailOpen | flagGSO), most(0)} {
		if err := q.ask(attrs); err != nil {
			return fmt.Errorf("let packets pass a netfilter queue: %w", err)
		}
	}
	return nil
}

// flagged sets which flags of a queue hold: that packets pass when it is full, and that large ones stay whole.
func flagged(flags uint32) []byte {
	all := attr(nil, cfgFlags, binary.BigEndian.AppendUint32(nil, flags))
	return attr(all, cfgMask, binary.BigEndian.AppendUint32(nil, flagFailOpen|flagGSO))
}

// most sets how many packets wait at most.
func most(n uint32) []byte { return attr(nil, cfgMost, binary.BigEndian.AppendUint32(nil, n)) }

// hold has packets wait from now on, or pass from now on, as if the queue were always full: the kernel then asks nobody, and
// those that wait leave at once. One message does it, so it happens at one instant, and has happened when this returns. It may
// be called while run runs, which reads the kernel's answer and is woken by it.
func (q *queue) hold(is bool) error {
	if q.over.Swap(!is) == !is {
		return nil
	}
	switch {
	case !is:
		return q.send(append(flagged(flagFailOpen|flagGSO), most(0)...))
	case q.whole:
		return q.send(append(flagged(flagGSO), most(mostQueued)...))
	}
	return q.send(append(flagged(0), most(mostQueued)...))
}

// send sends a configuration, which the kernel carries out before this returns.
func (q *queue) send(attrs []byte) error {
	m := q.message(nil, msgConfig, unix.NLM_F_REQUEST|unix.NLM_F_ACK, attrs)
	binary.NativeEndian.PutUint32(m[8:], configured)
	return unix.Sendto(q.fd, m, 0, &unix.SockaddrNetlink{Family: unix.AF_NETLINK})
}

// configured is the sequence number of configurations. Verdicts have 0.
const configured = 1

// ask sends a configuration and reads the kernel's answer.
func (q *queue) ask(attrs []byte) error {
	if err := q.send(attrs); err != nil {
		return err
	}
	if _, err := unix.Poll([]unix.PollFd{{Fd: int32(q.fd), Events: unix.POLLIN}}, 1000); err != nil {
		return err
	}
	n, err := unix.Read(q.fd, q.in)
	if err != nil {
		return err
	}
	return refusal(q.in[:n])
}

// refusal returns why the kernel did not carry out a configuration, by a message of it; nil: it did, or the message is not about
// one.
func refusal(b []byte) error {
	if len(b) < 20 || binary.NativeEndian.Uint16(b[4:]) != unix.NLMSG_ERROR || binary.NativeEndian.Uint32(b[8:]) != configured {
		return nil
	}
	if e := int32(binary.NativeEndian.Uint32(b[16:])); e != 0 {
		return unix.Errno(-e)
	}
	return nil
}

// message appends a message to this queue.
func (q *queue) message(b []byte, typ, flags uint16, attrs []byte) []byte {
	b = binary.NativeEndian.AppendUint32(b, uint32(20+len(attrs)))
	b = binary.NativeEndian.AppendUint16(b, queueSubsystem|typ)
	b = binary.NativeEndian.AppendUint16(b, flags)
	b = append(b, 0, 0, 0, 0, 0, 0, 0, 0, unix.AF_UNSPEC, 0)
	b = binary.BigEndian.AppendUint16(b, q.number)
	return append(b, attrs...)
}

// attr appends an attribute, padded to four bytes.
func attr(b []byte, typ uint16, v []byte) []byte {
	b = binary.NativeEndian.AppendUint16(b, uint16(4+len(v)))
	b = binary.NativeEndian.AppendUint16(b, typ)
	b = append(b, v...)
	for len(b)%4 != 0 {
		b = append(b, 0)
	}
	return b
}

const (
	// idle is how long the queue waits for packets before it looks whether it is to end.
	idle = int64(50 * time.Millisecond)
	// mostEarly bounds by how much a packet may leave before it is due.
	mostEarly = int64(100 * time.Microsecond)
)

// run lets packets go when they are due, until stop. Then, and when they are not held any more, those that wait leave at once.
//
// The thread keeps Go's processor: with Go's own blocking calls each wake-up took 0.1 ms longer
// (measured). What is left of a wake-up's delay is known from those before: the thread wakes earlier by that, and lets packets
// go that are due within it, so that they leave on time on average, some earlier and some later.
func (q *queue) run(stop *atomic.Bool) error {
	for !stop.Load() {
		if err := q.read(); err != nil {
			return err
		}
		now := clock.Now()
		if q.over.Load() {
			now = ending - q.early
		}
		q.release(now + q.early)
		if q.first == len(q.held) {
			q.wait(idle)
			continue
		}
		until := q.held[q.first].due - q.early
		now = clock.Now()
		if until <= now || q.wait(min(until-now, idle)) {
			continue // packets came, or the next is due
		}
		if late := clock.Now() - until; late >= 0 {
			q.early = min(mostEarly, q.early+(late-q.early)/8)
		}
	}
	if err := q.read(); err != nil {
		return err
	}
	q.release(ending)
	return nil
}

// wait waits for a packet, ns long at most, and reports whether one came.
func (q *queue) wait(ns int64) bool {
	fds := unix.PollFd{Fd: int32(q.fd), Events: unix.POLLIN}
	ts := unix.NsecToTimespec(ns)
	n, _, _ := syscall.RawSyscall6(unix.SYS_PPOLL, uintptr(unsafe.Pointer(&fds)), 1, uintptr(unsafe.Pointer(&ts)), 0, 0, 0)
	return n != 0
}

// read reads what the kernel has queued and decides about each packet.
func (q *queue) read() error {
	for {
		n, _, errno := syscall.RawSyscall(unix.SYS_READ, uintptr(q.fd), uintptr(unsafe.Pointer(&q.in[0])), uintptr(len(q.in)))
		switch errno {
		case 0:
		case unix.EAGAIN, unix.EINTR:
			return nil
		case unix.ENOBUFS:
			continue
		default:
			return fmt.Errorf("read a netfilter queue: %w", errno)
		}
		now := clock.Now()
		for b := q.in[:n]; len(b) >= 20; {
			length := int(binary.NativeEndian.Uint32(b))
			if length < 20 || length > len(b) {
				break
			}
			if binary.NativeEndian.Uint16(b[4:]) == queueSubsystem|msgPacket {
				if id, size, ok := parsePacket(b[20:length]); ok {
					q.packet(now, id, size)
				}
			} else if err := refusal(b[:length]); err != nil {
				return fmt.Errorf("a queue of netfilter does not take its mode: %w", err)
			}
			b = b[min(len(b), (length+3)&^3):]
		}
	}
}

// parsePacket reads the number of a packet and its size, 0 where the kernel does not tell it.
func parsePacket(b []byte) (id uint32, size int64, ok bool) {
	for len(b) >= 4 {
		length := int(binary.NativeEndian.Uint16(b))
		if length < 4 || length > len(b) {
			break
		}
		switch value := b[4:length]; binary.NativeEndian.Uint16(b[2:]) & 0x7fff {
		case attrHeader:
			if len(value) >= 4 {
				id, ok = binary.BigEndian.Uint32(value), true
			}
		case attrSize:
			if len(value) >= 4 {
				size = int64(binary.BigEndian.Uint32(value))
			}
		}
		b = b[min(len(b), (length+3)&^3):]
	}
	return id, size, ok
}

func (q *queue) packet(now int64, id uint32, size int64) {
	switch due, limited, is := q.schedule.packet(now, size); is {
	case dropped:
		q.verdict(msgVerdict, drop, id)
	case overtook:
		q.verdict(msgVerdict, accept, id)
	default:
		q.held = append(q.held, waiting{due, id, uint32(size), limited})
	}
}

// ending is when packets leave that still wait at the end.
const ending = int64(1<<63 - 1)

// release lets all packets go that are due, by one verdict: numbers grow as packets come, and those between that do not
// wait any more have had theirs.
func (q *queue) release(now int64) {
	n := q.first
	for n < len(q.held) && q.held[n].due <= now {
		if now != ending {
			q.leaves(&q.held[n], clock.Now())
		}
		n++
	}
	if n == q.first {
		return
	}
	q.verdict(msgBatch, accept, q.held[n-1].id)
	if q.first = n; q.first == len(q.held) {
		q.held, q.first = q.held[:0], 0
	} else if q.first > mostQueued/2 {
		q.held = q.held[:copy(q.held, q.held[q.first:])]
		q.first = 0
	}
}

// leaves counts a packet that leaves now. One that waited for the rate took the line since the one before it.
func (q *queue) leaves(p *waiting, now int64) {
	c := &q.schedule.counts
	if p.limited {
		c.Bytes += int64(p.size)
		c.Busy += time.Duration(now - q.before)
	}
	q.before = now
	late := now - p.due
	q.late += late
	q.lateMost = max(q.lateMost, late)
	q.left++
}

// verdict tells the kernel. A verdict that fails is of a packet that the kernel has dropped meanwhile.
func (q *queue) verdict(typ uint16, what, id uint32) {
	var v [8]byte
	binary.BigEndian.PutUint32(v[:], what)
	binary.BigEndian.PutUint32(v[4:], id)
	q.batchBytes = attr(q.batchBytes[:0], attrVerdict, v[:])
	q.out = q.message(q.out[:0], typ, unix.NLM_F_REQUEST, q.batchBytes)
	_, _, _ = syscall.RawSyscall(unix.SYS_WRITE, uintptr(q.fd), uintptr(unsafe.Pointer(&q.out[0])), uintptr(len(q.out)))
}

// counts may be called when run has returned, by a thread in the queue's namespace.
func (q *queue) counts() Counts {
	c := q.schedule.counts
	if q.left > 0 {
		c.Late, c.LateMost = time.Duration(q.late/q.left), time.Duration(q.lateMost)
	}
	c.Overflow += q.droppedByKernel()
	return c
}

// droppedByKernel counts packets that the kernel dropped since the queue or the socket's buffer was full.
func (q *queue) droppedByKernel() int64 {
	text, err := os.ReadFile("/proc/thread-self/net/netfilter/nfnetlink_queue")
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(text)) {
		var number, port, total, mode, length, queueDropped, userDropped int64
		if n, _ := fmt.Sscan(line, &number, &port, &total, &mode, &length, &queueDropped, &userDropped); n == 7 && number == int64(q.number) {
			return queueDropped + userDropped
		}
	}
	return 0
}

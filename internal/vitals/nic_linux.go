package vitals

import (
	"fmt"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"sixnines/internal/clock"
)

// The requests of ethtool for one bit each (linux/ethtool.h).
const (
	ethtoolGetTSO = 0x1e
	ethtoolGetGSO = 0x23
	ethtoolGetGRO = 0x2b
)

// ethtoolValue is struct ethtool_value.
type ethtoolValue struct{ cmd, data uint32 }

// ethtoolCoalesce is struct ethtool_coalesce.
type ethtoolCoalesce struct {
	cmd                                              uint32
	rxUsecs, rxFrames, rxUsecsIRQ, rxFramesIRQ       uint32
	txUsecs, txFrames, txUsecsIRQ, txFramesIRQ       uint32
	statsUsecs, adaptiveRx, adaptiveTx, pktRateLow   uint32
	rxUsecsLow, rxFramesLow, txUsecsLow, txFramesLow uint32
	pktRateHigh                                      uint32
	rxUsecsHigh, rxFramesHigh                        uint32
	txUsecsHigh, txFramesHigh, rateSampleInterval    uint32
}

// ethtoolRequest is struct ifreq with a pointer in its union.
type ethtoolRequest struct {
	name [unix.IFNAMSIZ]byte
	data unsafe.Pointer
	_    [16]byte // the union is larger than a pointer
}

// kernelNICs asks the kernel.
type kernelNICs struct{}

func ethtool() nic { return kernelNICs{} }

// ask makes one request. data must point to memory as large as the kernel's
// structure for it.
func (kernelNICs) ask(name, what string, data unsafe.Pointer) error {
	if len(name) >= unix.IFNAMSIZ {
		return fmt.Errorf("%s: the name is too long for an interface", name)
	}
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("ethtool: socket: %w", err)
	}
	defer unix.Close(fd)
	r := ethtoolRequest{data: data}
	copy(r.name[:], name)
	if _, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(fd), unix.SIOCETHTOOL, uintptr(unsafe.Pointer(&r))); errno != 0 {
		return fmt.Errorf("ethtool: %s of %s: %w", what, name, errno)
	}
	return nil
}

func (k kernelNICs) offloads(name string) (o offloads, err error) {
	for _, s := range []struct {
		cmd  uint32
		what string
		into *bool
	}{{ethtoolGetTSO, "tso", &o.tso}, {ethtoolGetGSO, "gso", &o.gso}, {ethtoolGetGRO, "gro", &o.gro}} {
		v := ethtoolValue{cmd: s.cmd}
		if err := k.ask(name, s.what, unsafe.Pointer(&v)); err != nil {
			return offloads{}, err
		}
		*s.into = v.data != 0
	}
	return o, nil
}

func (k kernelNICs) coalescing(name string) (coalescing, error) {
	v := ethtoolCoalesce{cmd: unix.ETHTOOL_GCOALESCE}
	if err := k.ask(name, "coalescing", unsafe.Pointer(&v)); err != nil {
		return coalescing{}, err
	}
	return coalescing{rxDelay: v.rxUsecs, txDelay: v.txUsecs, adaptive: v.adaptiveRx != 0 || v.adaptiveTx != 0}, nil
}

// slept returns how long the machine has been suspended since it was started.
func slept() (time.Duration, error) {
	before := clock.Now()
	boot := clock.Boottime()
	return time.Duration(max(0, boot-max(before, clock.Now()))), nil
}

package network

import (
	"fmt"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"sixnines/internal/journal"
	"sixnines/internal/relay"
)

// TestMain makes the test's program the process of the queues, as the command does.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == Command {
		if err := Serve(os.Stdin, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	if len(os.Args) > 1 && os.Args[1] == relay.Command {
		if err := relay.Serve(os.Stdin, os.Stdout, 7); err != nil {
			panic(err)
		}
		os.Exit(0)
	}
	if len(os.Args) > 1 && os.Args[1] == holdCommand {
		hold()
	}
	os.Exit(m.Run())
}

// queues is the command of that process.
func queues() []string { return []string{os.Args[0], Command} }

// Addresses of the ends of a lab.
var (
	clientAddress = netip.MustParseAddr("10.231.37.1")
	brokerAddress = netip.MustParseAddr("10.231.37.2")
)

// lab is two network namespaces of the test's own, joined by a pair of devices. They are gone with the test.
type lab struct {
	client, broker string // paths of the namespaces
	near, far      Device // the devices: of clients, of the broker
}

// newLab skips the test where namespaces cannot be made, and where one of the means does not work.
func newLab(t *testing.T, means ...Means) lab {
	t.Helper()
	machine := Look()
	for _, m := range means {
		if why, not := machine.Why[m]; not {
			t.Skipf("SKIPPED: %s does not work here: %s", m, why)
		}
	}
	l := lab{client: newNamespace(t), broker: newNamespace(t)}
	l.near, l.far = Device{l.client, "near"}, Device{l.broker, "far"}
	err := inside(l.client, func() error {
		if err := netlink.LinkAdd(&netlink.Veth{LinkAttrs: netlink.LinkAttrs{Name: "near"}, PeerName: "far"}); err != nil {
			return err
		}
		far, err := netlink.LinkByName("far")
		if err != nil {
			return err
		}
		fd, err := unix.Open(l.broker, unix.O_RDONLY|unix.O_CLOEXEC, 0)
		if err != nil {
			return err
		}
		defer unix.Close(fd)
		return netlink.LinkSetNsFd(far, fd)
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range []struct {
		device  Device
		address netip.Addr
	}{{l.near, clientAddress}, {l.far, brokerAddress}} {
		err := e.device.at(func(n netlink.Link) error {
			a, err := netlink.ParseAddr(e.address.String() + "/24")
			if err != nil {
				return err
			}
			if err := netlink.AddrAdd(n, a); err != nil {
				return err
			}
			return netlink.LinkSetUp(n)
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return l
}

// newNamespace makes a network namespace that lives as long as the test, and returns its path.
func newNamespace(t *testing.T) string {
	t.Helper()
	var f *os.File
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
		f, err = os.Open("/proc/thread-self/ns/net")
		return err
	})
	if err != nil {
		t.Skip("SKIPPED: no network namespace can be made here: ", err)
	}
	t.Cleanup(func() { _ = f.Close() })
	return fmt.Sprintf("/proc/%d/fd/%d", os.Getpid(), f.Fd())
}

// ways are those of a lab between clients and a broker at a port.
func (l lab) ways(port uint16) []Way {
	at := []netip.AddrPort{netip.AddrPortFrom(brokerAddress, port)}
	return []Way{
		{Name: "to brokers", To: at, Arrive: []string{l.broker}, Out: l.near, In: l.far},
		{Name: "from brokers", From: at, Arrive: []string{l.client}, Out: l.far, In: l.near},
	}
}

// listen listens in the broker's namespace.
func (l lab) listen(t *testing.T) *net.TCPListener {
	t.Helper()
	var server net.Listener
	err := inside(l.broker, func() (err error) {
		server, err = net.Listen("tcp4", netip.AddrPortFrom(brokerAddress, 0).String())
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Close() })
	return server.(*net.TCPListener)
}

// dial connects from the clients' namespace.
func (l lab) dial(t *testing.T, to net.Addr) *net.TCPConn {
	t.Helper()
	var c net.Conn
	err := inside(l.client, func() (err error) {
		// Not net.Dial, which may connect on another goroutine, and so on another thread.
		fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
		if err != nil {
			return err
		}
		f := os.NewFile(uintptr(fd), "client")
		defer f.Close()
		if err := unix.Connect(fd, &unix.SockaddrInet4{Port: to.(*net.TCPAddr).Port, Addr: brokerAddress.As4()}); err != nil {
			return err
		}
		c, err = net.FileConn(f)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c.(*net.TCPConn)
}

// state is everything of a namespace that conditions could have changed.
func state(t *testing.T, namespace string) string {
	t.Helper()
	var b strings.Builder
	err := inside(namespace, func() error {
		links, err := netlink.LinkList()
		if err != nil {
			return err
		}
		for _, l := range links {
			a := l.Attrs()
			fmt.Fprintf(&b, "link %s %s segs %d\n", a.Name, l.Type(), a.GSOMaxSegs)
			all, err := netlink.QdiscList(l)
			if err != nil {
				return err
			}
			for _, q := range all {
				fmt.Fprintf(&b, "qdisc %s %s\n", q.Type(), a.Name)
			}
		}
		for _, program := range []string{"iptables-legacy-save", "ip6tables-legacy-save"} {
			out, err := exec.Command(program).Output()
			if err != nil {
				continue // not installed: then there are no rules of ours
			}
			for line := range strings.Lines(string(out)) {
				if strings.HasPrefix(line, "-A") || strings.Contains(line, journal.Mark) {
					b.WriteString(program + " " + line)
				}
			}
		}
		queues, err := os.ReadFile("/proc/thread-self/net/netfilter/nfnetlink_queue")
		fmt.Fprintf(&b, "queues %q %v\n", queues, err)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

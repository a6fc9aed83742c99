package netns_test

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/vishvananda/netlink"

	"sixnines/internal/clock"
	"sixnines/internal/netns"
)

// becomeOwner is the argument with which the test binary makes a network, says its interface,
// and cuts it until it is killed.
const becomeOwner = "become-owner-of-a-network"

func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == becomeOwner {
		n, err := netns.New()
		if err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		node, err := n.Join()
		if err == nil {
			_, err = n.Cut([]netns.Link{{From: n.Host(), To: node.Addr}})
		}
		fmt.Println(n.Interface(), n.Prefix(), err)
		select {}
	}
	os.Exit(m.Run())
}

// network returns a network with nodes, and compares the machine's interfaces, routes and
// filters before and after the test.
func network(t *testing.T, nodes int) (*netns.Network, []*netns.Node) {
	t.Helper()
	before := machine(t)
	n, err := netns.New()
	if errors.Is(err, netns.ErrUnavailable) {
		t.Skipf("SKIPPED: %v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := n.Close(); err != nil {
			t.Error(err)
		}
		if after := machine(t); !slices.Equal(after, before) {
			t.Errorf("the machine is not as it was: %q, before %q", after, before)
		}
	})
	var all []*netns.Node
	for range nodes {
		node, err := n.Join()
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, node)
	}
	return n, all
}

// machine lists interfaces and routes that are of Sixnines, and settings that must not change.
// Others may come and go while a test runs.
func machine(t *testing.T) (all []string) {
	t.Helper()
	links, err := netlink.LinkList()
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range links {
		if strings.HasPrefix(l.Attrs().Name, fmt.Sprintf("s9-%d-", os.Getpid())) {
			all = append(all, l.Attrs().Name)
		}
	}
	forward, err := os.ReadFile("/proc/sys/net/ipv4/ip_forward")
	if err != nil {
		t.Fatal(err)
	}
	return append(all, string(forward))
}

// echo answers datagrams in a node's namespace, and connections, until the test ends. It returns the
// port, which is the same for both.
func echo(t *testing.T, node *netns.Node) netip.AddrPort {
	t.Helper()
	at := netip.AddrPortFrom(node.Addr, 7000)
	var l net.Listener
	var c *net.UDPConn
	err := node.Do(func() (err error) {
		if l, err = net.Listen("tcp", at.String()); err != nil {
			return err
		}
		c, err = net.ListenUDP("udp", net.UDPAddrFromAddrPort(at))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close(); c.Close() })
	go func() {
		for {
			s, err := l.Accept()
			if err != nil {
				return
			}
			go func() { defer s.Close(); io.Copy(s, s) }()
		}
	}()
	go func() {
		buf := make([]byte, 64)
		for {
			n, from, err := c.ReadFromUDPAddrPort(buf)
			if err != nil {
				return
			}
			c.WriteToUDPAddrPort(buf[:n], from)
		}
	}()
	return at
}

// reaches reports whether a datagram that is sent from a namespace, nil for this one, is answered.
func reaches(t *testing.T, from *netns.Node, to netip.AddrPort, patience time.Duration) bool {
	t.Helper()
	do := func(f func() error) error { return f() }
	if from != nil {
		do = from.Do
	}
	var c net.Conn
	if err := do(func() (err error) { c, err = net.Dial("udp", to.String()); return err }); err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := c.Write([]byte("ping")); err != nil {
		t.Fatalf("%s is refused, not silent: %v", to, err)
	}
	c.SetReadDeadline(time.Now().Add(patience))
	_, err := c.Read(make([]byte, 4))
	if err != nil && !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Fatalf("%s is refused, not silent: %v", to, err)
	}
	return err == nil
}

const silence = 200 * time.Millisecond // longer than a round trip on any machine that tests run on

// Two of three nodes are cut from each other, in both directions or one, and the third and the clients
// still see both.
func TestPartialPartition(t *testing.T) {
	n, nodes := network(t, 3)
	var at []netip.AddrPort
	for _, node := range nodes {
		at = append(at, echo(t, node))
	}
	sees := func() string {
		var b strings.Builder
		for i, from := range append([]*netns.Node{nil}, nodes...) {
			for j, to := range at {
				if i-1 == j {
					continue
				}
				patience := 5 * time.Second
				if (i == 1 && j == 2) || (i == 3 && j == 0) || (i == 0 && j == 1) { // those that are cut below
					patience = silence
				}
				if reaches(t, from, to, patience) {
					b.WriteByte('1')
				} else {
					b.WriteByte('0')
				}
			}
			b.WriteByte(' ')
		}
		return strings.TrimSpace(b.String())
	}
	const whole = "111 11 11 11" // from the clients, then from each node, to each other node
	if got := sees(); got != whole {
		t.Fatalf("before a cut %s", got)
	}
	both, err := n.Cut([]netns.Link{{From: nodes[0].Addr, To: nodes[2].Addr}, {From: nodes[2].Addr, To: nodes[0].Addr}})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := sees(), "111 10 11 01"; got != want {
		t.Errorf("cut between 0 and 2: %s, want %s", got, want)
	}
	// Answers of node 1 to the clients are dropped, so that these hear nothing; the node hears them.
	one, err := n.Cut([]netns.Link{{From: nodes[1].Addr, To: n.Host()}})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := sees(), "101 10 11 01"; got != want {
		t.Errorf("two cuts at once: %s, want %s", got, want)
	}
	dropped, err := both.Undo()
	if err != nil {
		t.Fatal(err)
	}
	if len(dropped) != 2 || dropped[0].Packets != 2 || dropped[1].Packets != 2 || dropped[0].Bytes == 0 {
		t.Errorf("dropped %+v: want two packets each way, one a look", dropped) // looks were made twice
	}
	if got, want := sees(), "101 11 11 11"; got != want {
		t.Errorf("the first undone: %s, want %s", got, want)
	}
	if dropped, err = one.Undo(); err != nil || len(dropped) != 1 || dropped[0].Packets != 2 {
		t.Errorf("dropped %+v, %v: want two answers", dropped, err)
	}
	if got := sees(); got != whole {
		t.Errorf("all undone: %s", got)
	}
	if _, err := n.Cut([]netns.Link{{From: nodes[0].Addr, To: netip.MustParseAddr("198.19.255.255")}}); err == nil {
		t.Error("cut from an address that is not there")
	}
}

// What is sent every millisecond is missing for as long as the cut lasted by its own instants,
// and a connection that was open before survives it.
func TestOutageIsTheCut(t *testing.T) {
	n, nodes := network(t, 1)
	at := echo(t, nodes[0])
	open, err := net.Dial("tcp", at.String())
	if err != nil {
		t.Fatal(err)
	}
	defer open.Close()
	c, err := net.Dial("udp", at.String())
	if err != nil {
		t.Fatal(err)
	}
	stop := make(chan struct{})
	var sent, answered []int64
	done := make(chan struct{})
	go func() {
		defer close(done)
		var b [8]byte
		for {
			c.SetReadDeadline(time.Now().Add(time.Minute))
			if _, err := io.ReadFull(c, b[:]); err != nil {
				return
			}
			answered = append(answered, int64(binary.LittleEndian.Uint64(b[:])))
		}
	}()
	sending := make(chan struct{})
	go func() {
		defer close(sending)
		tick := time.NewTicker(time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-stop:
				return
			case <-tick.C:
			}
			now := clock.Now()
			sent = append(sent, now)
			c.Write(binary.LittleEndian.AppendUint64(nil, uint64(now)))
		}
	}()
	time.Sleep(50 * time.Millisecond)
	before := clock.Now()
	cut, err := n.Cut([]netns.Link{{From: n.Host(), To: nodes[0].Addr}, {From: nodes[0].Addr, To: n.Host()}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := open.Write([]byte("ping")); err != nil {
		t.Errorf("the connection is cut, not silent: %v", err)
	}
	time.Sleep(500 * time.Millisecond)
	dropped, err := cut.Undo()
	if err != nil {
		t.Fatal(err)
	}
	after := clock.Now()
	time.Sleep(50 * time.Millisecond)
	close(stop)
	<-sending
	open.SetReadDeadline(time.Now().Add(time.Minute))
	if _, err := io.ReadFull(open, make([]byte, 4)); err != nil {
		t.Errorf("the connection did not survive the cut: %v", err)
	}
	silentFor := time.Duration(clock.Now() - cut.Began)
	c.Close()
	<-done
	if before > cut.Began || cut.Began >= cut.Ended || cut.Ended > after {
		t.Errorf("it began at %d and ended at %d, and was made after %d and undone before %d", cut.Began, cut.Ended, before, after)
	}
	// What was sent just before an instant may be carried after it, on a busy machine.
	missing := uint64(0)
	for _, s := range sent {
		switch _, got := slices.BinarySearch(answered, s); {
		case !got:
			missing++
			if s > cut.Ended {
				t.Errorf("what was sent at %d is missing, cut from %d to %d", s, cut.Began, cut.Ended)
			}
		case s > cut.Began && s < (cut.Began+cut.Ended)/2:
			t.Errorf("what was sent at %d came through, cut from %d to %d", s, cut.Began, cut.Ended)
		}
	}
	t.Logf("cut for %s, %d of %d datagrams missing, dropped %+v; the connection was silent for %s",
		time.Duration(cut.Ended-cut.Began), missing, len(sent), dropped, silentFor)
	if missing == 0 || dropped[0].Packets < missing {
		t.Errorf("%d datagrams are missing, dropped %+v", missing, dropped)
	}
}

// Processes that are started in a node's namespace see its address and no other machine's interface.
func TestProcessesStartThere(t *testing.T) {
	_, nodes := network(t, 1)
	inode := func(pid string) string {
		name, err := os.Readlink("/proc/" + pid + "/ns/net")
		if err != nil {
			t.Fatal(err)
		}
		return name
	}
	c := exec.Command("sleep", "60")
	if err := nodes[0].Do(c.Start); err != nil {
		t.Fatal(err)
	}
	defer c.Wait()
	defer c.Process.Kill()
	if own, its := inode("self"), inode(fmt.Sprint(c.Process.Pid)); own == its {
		t.Error("the process is in this namespace")
	}
	if err := nodes[0].Do(func() error { return io.EOF }); err != io.EOF {
		t.Error(err)
	}
	for range 50 { // threads that have been there are back
		done := make(chan string)
		go func() { done <- inode("thread-self") }()
		if got := <-done; got != inode("self") {
			t.Fatal("a goroutine runs in a node's namespace")
		}
	}
}

// When its owner is killed in the middle of a cut, the kernel removes the network.
func TestKilledOwner(t *testing.T) {
	network(t, 0) // skips where there can be none
	c := exec.Command(os.Args[0], becomeOwner)
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	name, _, _ := strings.Cut(line, " ")
	if _, err := netlink.LinkByName(name); err != nil {
		t.Fatalf("%s: %v", strings.TrimSpace(line), err)
	}
	if _, err := netns.Clean(); err != nil {
		t.Fatal(err)
	}
	if _, err := netlink.LinkByName(name); err != nil {
		t.Fatalf("the network of a process that runs was removed: %v", err)
	}
	c.Process.Signal(syscall.SIGKILL)
	c.Wait()
	limit := time.Now().Add(time.Minute)
	for {
		_, err := netlink.LinkByName(name)
		if errors.As(err, new(netlink.LinkNotFoundError)) {
			break
		}
		if time.Now().After(limit) {
			t.Fatalf("the interface %s is still there: %v", name, err)
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// Without privileges it is refused, with what it needs.
func TestNeedsPrivileges(t *testing.T) {
	if os.Getuid() != 0 {
		if _, err := netns.New(); !errors.Is(err, netns.ErrUnavailable) || !strings.Contains(err.Error(), "CAP_NET_ADMIN") {
			t.Errorf("%v", err)
		}
		return
	}
	c := exec.Command("/proc/self/exe", "-test.run=^TestNeedsPrivileges$")
	c.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	if text, err := c.CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, text)
	}
}

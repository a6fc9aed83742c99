package network

import (
	"io"
	"net"
	"testing"
	"time"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"sixnines/scenario"
)

// What a discipline counts is told as it is: 1,000 packets left, 25 of them before others, 3 wait, and 10 found the queue full.
func TestCountsOfDisciplines(t *testing.T) {
	s := &netlink.QdiscStatistics{Basic: &netlink.GnetStatsBasic{Bytes: 1_514_000, Packets: 1000}, Queue: &netlink.GnetStatsQueue{Qlen: 3, Drops: 10, Requeues: 25}}
	for means, want := range map[Means]Counts{
		Netem: {Packets: 1013, Bytes: 1_514_000, Overflow: 10, Reordered: 25},
		TBF:   {Packets: 1013, Bytes: 1_514_000, Overflow: 10}, // a device that was busy takes a packet later
	} {
		if got := counted(means, s); got != want {
			t.Errorf("%s: %+v, want %+v", means, got, want)
		}
	}
}

// netem gets all that is asked of it, loses nothing by itself, and lets everything pass at the end.
func TestNetemAsTheKernelTakesIt(t *testing.T) {
	q, err := disciplineOf(Netem, scenario.Conditions{Delay: 5 * time.Millisecond, Reorder: 0.25, Rate: 8_000_000}, 3)
	if err != nil {
		t.Fatal(err)
	}
	n := q.(*netlink.Netem)
	if tick := netlink.TickInUsec(); n.Latency != uint32(5000*tick) || n.Gap != 1 || n.ReorderProb != netlink.Percentage2u32(25) || n.Rate64 != 1_000_000 || n.Loss != 0 || n.Jitter != 0 {
		t.Errorf("%+v", n)
	}
	q, err = disciplineOf(Netem, scenario.Conditions{Rate: openRate}, 3)
	if err != nil {
		t.Fatal(err)
	}
	if n := q.(*netlink.Netem); n.Latency != 0 || n.Gap != 0 || n.Rate64 != uint64(openRate)/8 {
		t.Errorf("%+v", n)
	}
}

// What waits for a rate leaves when the conditions are over, and nothing of it is lost. The rate takes longer than any test waits.
func TestNothingIsLostWhenARateEnds(t *testing.T) {
	l := newLab(t, TBF)
	server := l.listen(t)
	way := l.ways(uint16(server.Addr().(*net.TCPAddr).Port))[0]
	way.Conditions.Rate = 8_000
	m := Look()
	m.Why[Netem] = "the test is of another means"
	plan, err := m.Plan([]Way{way})
	if err != nil {
		t.Fatal(err)
	}
	p, err := plan.Prepare(Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	c := l.dial(t, server.Addr())
	s, err := server.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	begin(t, p)
	const n = 10 << 10 // what TCP sends before it is answered
	if _, err := c.Write(make([]byte, n)); err != nil {
		t.Fatal(err)
	}
	d := discipline{way.Out}
	for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(time.Millisecond) {
		q, err := d.statistics()
		if err != nil || q == nil || time.Now().After(deadline) {
			t.Fatalf("nothing waits: %+v, %v", q, err)
		}
		if q.Queue.Qlen > 2 {
			break
		}
	}
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(s, make([]byte, n)); err != nil {
		t.Fatal(err)
	}
	if n := p.Counts()[0]; n.Packets < 4 || n.Overflow != 0 {
		t.Errorf("%+v", n)
	}
	raw, err := c.SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	// What was sent again though it had arrived is told by the receiver.
	lost := func() (n int) {
		err := raw.Control(func(fd uintptr) {
			info, err := unix.GetsockoptTCPInfo(int(fd), unix.IPPROTO_TCP, unix.TCP_INFO)
			if err != nil {
				t.Fatal(err)
			}
			n = int(info.Total_retrans) - int(info.Dsack_dups)
		})
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	for deadline := time.Now().Add(5 * time.Second); lost() > 0; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%d packets were lost when the rate ended", lost())
		}
	}
}

package network

import (
	"fmt"
	"io"
	"math"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"sixnines/internal/relay"
	"sixnines/internal/vitals/vitalstest"
	"sixnines/scenario"
)

const (
	// nobody is a user without any privilege.
	nobody = 65534
	// asNobody tells the test that it is run as that user.
	asNobody = "SIXNINES_AS_NOBODY"
)

// Without privileges a path gets its conditions by the relay, which is chosen by itself, and they are as asked; what a relay
// cannot do is refused with the means that could.
func TestRelayNeedsNoPrivileges(t *testing.T) {
	if os.Getenv(asNobody) == "" {
		runAsNobody(t)
		return
	}
	machine := Look()
	server, err := net.ListenTCP("tcp4", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	echo(server)
	address := server.Addr().(*net.TCPAddr).AddrPort()
	here := func(netip.Addr) bool { return true }
	asked := scenario.Network{Conditions: scenario.Conditions{Delay: 5 * time.Millisecond}}
	plan, err := machine.Plan(Between(asked, []netip.AddrPort{address}, here))
	if err != nil || plan.String() != "to brokers: delay by relay; from brokers: delay by relay" || !strings.Contains(strings.Join(plan.Not, "\n"), "NET_ADMIN") {
		t.Fatalf("%s, %q, %v", plan, plan.Not, err)
	}
	lossy := scenario.Network{Conditions: scenario.Conditions{Loss: 0.01}}
	if _, err := machine.Plan(Between(lossy, []netip.AddrPort{address}, here)); err == nil || !strings.Contains(err.Error(), "NET_ADMIN") || !strings.Contains(err.Error(), "it can neither lose nor reorder") {
		t.Errorf("%v", err)
	}
	if _, err := plan.Prepare(Options{}); err == nil {
		t.Error("a plan with a relay is prepared without one")
	}
	r, err := relay.Start([]string{os.Args[0], relay.Command}, 7)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	via := r.Via()
	c, _, err := via.Dial(t.Context(), "tcp", address.String())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	vitalstest.Injected(t, func() (complaint string) {
		before := roundTrips(t, c, 100)[50]
		floor := Measure(t.Context(), address, &via, 20, 0)
		p, err := plan.Prepare(Options{Relay: r})
		if err != nil {
			t.Fatal(err)
		}
		defer p.Close()
		began := begin(t, p)
		during := roundTrips(t, c, 100)[50]
		delayed := Measure(t.Context(), address, &via, 20, 0)
		ended, err := p.End()
		if err != nil || ended <= began {
			t.Errorf("%v: from %d to %d", err, began, ended)
		}
		after := roundTrips(t, c, 50)[25]
		t.Logf("%v, %v, %v; connecting %+v, %+v; %+v", before, during, after, floor, delayed, p.Counts())
		for i, n := range p.Counts() {
			if n.Packets < 100 || n.Lost != 0 {
				t.Errorf("%s: %+v", plan.Uses[i].Way.Name, n)
			}
		}
		for what, shift := range map[string]time.Duration{"the round trip": during - before, "connecting": delayed.P50 - floor.P50} {
			if limit := map[bool]float64{true: 0.02, false: 0.1}[what == "the round trip"]; math.Abs(float64(shift)/float64(10*time.Millisecond)-1) > limit {
				return fmt.Sprintf("5 ms each way made %s %v longer", what, shift)
			}
		}
		if during < 2*after {
			return fmt.Sprintf("the round trip is %v afterwards", after)
		}
		return ""
	})
}

// runAsNobody runs this test alone as a user without privileges, by a copy of its program that the user may read.
func runAsNobody(t *testing.T) {
	t.Helper()
	if os.Getuid() != 0 {
		t.Setenv(asNobody, "1")
		TestRelayNeedsNoPrivileges(t)
		return
	}
	dir, err := os.MkdirTemp("", "nobody")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	from, err := os.Open("/proc/self/exe")
	if err != nil {
		t.Fatal(err)
	}
	defer from.Close()
	program := filepath.Join(dir, "test")
	to, err := os.OpenFile(program, os.O_CREATE|os.O_WRONLY, 0o755)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(to, from); err != nil {
		t.Fatal(err)
	}
	if err := to.Close(); err != nil {
		t.Fatal(err)
	}
	c := exec.CommandContext(t.Context(), program, "-test.run=^TestRelayNeedsNoPrivileges$", "-test.v")
	c.Dir, c.Env = dir, append(os.Environ(), asNobody+"=1")
	c.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	out, err := c.CombinedOutput()
	t.Logf("%s", out)
	switch {
	case err != nil:
		t.Errorf("as nobody: %v", err)
	case strings.Contains(string(out), "SKIPPED:"):
		t.Skip("SKIPPED: as nobody")
	case !strings.Contains(string(out), "--- PASS"):
		t.Error("nothing was run as nobody")
	}
}

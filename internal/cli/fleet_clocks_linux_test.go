package cli

import (
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"sixnines/internal/netns"
	"sixnines/result"
)

// The control plane, the coordinator and two agents have clocks that are hours to days apart, and network namespaces of their own: the
// kernels stamp the questions for the time, and each offset is recovered within what is proved. Neither is the coordinator's clock that
// of the control plane, nor any agent's.
func TestAFleetsClocksInNamespaces(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("unshare"); err != nil {
		t.Skip("SKIPPED: no unshare")
	}
	f := newApartFleet(t)
	if err := exec.Command("unshare", "-T", "true").Run(); err != nil {
		t.Skipf("SKIPPED: no time namespace can be made: %v", err)
	}
	dir := filepath.Join(f.dir, "plane")
	serve := f.start(f.lead, nil, "fleet", "serve", "--dir", dir, "--listen", net.JoinHostPort(f.lead.Addr.String(), "0"))
	read := func(name string) string {
		text, _ := os.ReadFile(filepath.Join(dir, name))
		return string(text)
	}
	line := regexp.MustCompile(`agents join by: \S+ sixnines agent --join (\S+) --pin (\S+)\n`)
	var at, pin string
	f.until(serve, "the control plane is there", func() bool {
		join := line.FindStringSubmatch(serve.out.String() + serve.errs.String())
		if join != nil {
			at, pin = join[1], join[2]
		}
		return join != nil
	})
	ahead := func(seconds, token string, in *netns.Node, args ...string) *apartProcess {
		return f.startCommand(in, []string{"SIXNINES_FLEET_TOKEN=" + read(token)}, append([]string{"unshare", "-T", "--monotonic", seconds, "--boottime", seconds, "sixnines"}, args...))
	}
	for i, seconds := range []string{"1000000", "50000"} {
		name := []string{"m1", "m2"}[i]
		p := ahead(seconds, "join", f.agents[i], "agent", "--join", at, "--pin", pin, "--name", name, "--dir", filepath.Join(f.dir, name))
		f.until(p, "the agent has joined", func() bool { return strings.Contains(p.errs.String(), "has joined") })
	}
	c := ahead("300000", "token", f.agents[2], "run", "nats", "--url", f.broker, "--name", "clocks", "--fleet", at, "--fleet-pin", pin,
		"--rate", "300/s", "--warmup", "100ms", "--duration", "2s", "--fleet-producers", "m1", "--fleet-consumers", "m2")
	f.ends(c)
	run := f.result("clocks")
	if n := run.Counters; n.Sent != 600 || n.Received != n.Sent || n.OutOfRange != 0 {
		t.Errorf("%+v", n)
	}
	for i, truth := range []time.Duration{700_000 * time.Second, -250_000 * time.Second} {
		a := run.Header.Fleet.Agents[i]
		if a.Clock == nil {
			t.Fatalf("%s: its clock was not followed", a.Name)
		}
		wrong := a.Clock.Offset - truth.Nanoseconds()
		t.Logf("%s: off by %d ns: %+v", a.Name, wrong, *a.Clock)
		if max(wrong, -wrong) > a.Clock.Proved || a.Clock.Unknown || !a.Clock.Raw || 2*a.Clock.Kernel <= a.Clock.Exchanges {
			t.Errorf("%s: off by %d ns: %+v", a.Name, wrong, *a.Clock)
		}
	}
	for _, r := range run.Summary.Verdict.Reasons {
		if r.Code == result.ReasonClocks && !strings.Contains(r.Found, "time stamps of kernels") {
			t.Error(r.Found)
		}
	}
}

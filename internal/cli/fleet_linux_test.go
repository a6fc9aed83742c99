package cli

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"sixnines/internal/judge"
	"sixnines/internal/netns"
	"sixnines/result"
)

// apartFleet is a broker, a coordinator with its control plane, and three agents, each a process in a network namespace of its own.
type apartFleet struct {
	t       *testing.T
	network *netns.Network
	dir     string
	broker  string // its URL
	lead    *netns.Node
	agents  []*netns.Node
	started []*apartProcess
	// way, if not nil, returns what starts an agent, before its own command, and where it joins the control plane that is at.
	way func(agent int, at string) (before []string, joins string)
}

// apartProcess is sixnines in a namespace.
type apartProcess struct {
	*exec.Cmd
	out, errs lockedBuffer
	over      chan struct{}
}

// lockedBuffer is what a process has written so far.
type lockedBuffer struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}

// newApartFleet starts the broker in the first of five namespaces.
func newApartFleet(t *testing.T) *apartFleet {
	t.Helper()
	n, err := netns.New()
	if errors.Is(err, netns.ErrUnavailable) {
		t.Skipf("SKIPPED: %v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	f := &apartFleet{t: t, network: n, dir: t.TempDir()}
	t.Cleanup(f.end)
	var nodes []*netns.Node
	for range 5 {
		node, err := n.Join()
		if err != nil {
			t.Fatal(err)
		}
		nodes = append(nodes, node)
	}
	f.lead, f.agents = nodes[1], nodes[2:]
	config := filepath.Join(f.dir, "nats.conf")
	if err := os.WriteFile(config, []byte("host: 0.0.0.0\nport: 4222\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	broker := net.JoinHostPort(nodes[0].Addr.String(), "4222")
	f.broker = "nats://" + broker
	p := f.start(nodes[0], nil, "__broker", "-c", config, "-detach")
	f.until(p, "the broker listens", func() bool {
		c, err := net.DialTimeout("tcp", broker, time.Second) // from the namespace of this test, which has a way to it
		if err == nil {
			c.Close()
		}
		return err == nil
	})
	return f
}

// end ends what goes on, removes the namespaces and checks that the test's has no interface of them.
func (f *apartFleet) end() {
	for _, p := range slices.Backward(f.started) {
		_ = p.Process.Kill() // what has ended by itself cannot be
		<-p.over
	}
	if f.t.Failed() {
		for _, p := range f.started {
			f.t.Logf("%s\n%s%s", p, p.out.String(), p.errs.String())
		}
	}
	if err := f.network.Close(); err != nil {
		f.t.Error(err)
	}
}

// start starts sixnines in a namespace.
func (f *apartFleet) start(in *netns.Node, environ []string, args ...string) *apartProcess {
	f.t.Helper()
	return f.startCommand(in, environ, append([]string{"sixnines"}, args...))
}

func (f *apartFleet) startCommand(in *netns.Node, environ, command []string) *apartProcess {
	f.t.Helper()
	p := &apartProcess{Cmd: exec.Command(command[0], command[1:]...), over: make(chan struct{})}
	p.Env = append(append(os.Environ(), "NO_COLOR=1", "SIXNINES_HOME="+filepath.Join(f.dir, "home")), environ...)
	p.Dir, p.Stdout, p.Stderr = f.dir, &p.out, &p.errs
	if err := in.Do(p.Start); err != nil {
		f.t.Fatal(err)
	}
	f.started = append(f.started, p)
	go func() {
		_ = p.Wait() // its state says how it ended
		close(p.over)
	}()
	return p
}

// until waits for a condition, as long as a process goes on.
func (f *apartFleet) until(p *apartProcess, what string, is func() bool) {
	f.t.Helper()
	for end := time.Now().Add(patience); !is(); time.Sleep(5 * time.Millisecond) { // between looks
		select {
		case <-p.over:
			f.t.Fatalf("waited until %s, and %s has ended", what, p)
		default:
		}
		if time.Now().After(end) {
			f.t.Fatalf("waited %v until %s", patience, what)
		}
	}
}

// run has the agents make a run, and returns the coordinator, and the agents in the order of their names.
func (f *apartFleet) run(name string, flags ...string) (*apartProcess, []*apartProcess) {
	f.t.Helper()
	// The agents reach the coordinator's namespace by its address only.
	c := f.start(f.lead, nil, append([]string{"run", "nats", "--url", f.broker, "--name", name, "--fleet", "embedded", "--fleet-agents", fmt.Sprint(len(f.agents)), "--json",
		"--rate", "600/s", "--producers", "3", "--topics", "3", "--consumers", "3", "--warmup", "100ms", "--set", "record.interval=100ms"}, flags...)...)
	line := regexp.MustCompile(`agents join by: (\S+) sixnines agent --join tls://\S+:([0-9]+) --pin (\S+)\n`)
	var join []string
	f.until(c, "the command prints how agents join", func() bool {
		join = line.FindStringSubmatch(c.errs.String())
		return join != nil
	})
	var agents []*apartProcess
	for i, node := range f.agents {
		own := fmt.Sprintf("m%d", i+1)
		before, at := []string(nil), net.JoinHostPort(f.lead.Addr.String(), join[2])
		if f.way != nil {
			before, at = f.way(i, at)
		}
		agents = append(agents, f.startCommand(node, []string{join[1]}, append(before, "sixnines", "agent", "--join", "tls://"+at, "--pin", join[3], "--name", own, "--dir", filepath.Join(f.dir, name+own))))
	}
	return c, agents
}

// result is that of a run which has ended.
func (f *apartFleet) result(name string) *result.Run {
	f.t.Helper()
	found, err := filepath.Glob(filepath.Join(f.dir, "results", name+"-*.jsonl"))
	if err != nil || len(found) != 1 {
		f.t.Fatalf("%s: %q, %v", name, found, err)
	}
	run, err := result.Load(found[0])
	if err != nil {
		f.t.Fatal(err)
	}
	if ok, problem := run.Counters.Conserved(); !ok {
		f.t.Error(problem)
	}
	for _, p := range judge.Verify(run, BuiltTool()) {
		f.t.Error(p)
	}
	f.isSum(run, result.AgentsDir(found[0]))
	return run
}

// isSum checks that a result is what its agents recorded, count for count and bucket for bucket. What an agent that was lost did
// not send is in the result alone, and what it received and did not time is not. With roles a message that came to two agents is
// one and a duplicate, and what came to none only the result knows.
func (f *apartFleet) isSum(run *result.Run, dir string) {
	f.t.Helper()
	lost, roles := false, false
	sum, buckets := result.Counters{}, map[result.Metric]map[int64]int64{}
	add := func(to map[result.Metric]map[int64]int64, sign int64, of *result.Run) {
		for m, x := range of.Metrics {
			if to[m] == nil {
				to[m] = map[int64]int64{}
			}
			if x.Hist.Count() == 0 {
				continue
			}
			x.Hist.Buckets(func(_, high, n int64) { to[m][high] += sign * n })
		}
	}
	for _, a := range run.Header.Fleet.Agents {
		of, err := result.Load(filepath.Join(dir, a.Name+".jsonl"))
		if err != nil {
			f.t.Fatal(err)
		}
		sum.Add(of.Counters)
		add(buckets, 1, of)
		lost, roles = lost || a.Lost, roles || a.Segment.Role != ""
	}
	if total := buckets[result.DeliveryResponse]; len(total) == 0 {
		f.t.Error("the agents have recorded no latency")
	}
	add(buckets, -1, run)
	for m, of := range buckets {
		for high, n := range of {
			if n != 0 {
				f.t.Errorf("%s: the agents have %d more at %d ns than the result", m, n, high)
			}
		}
	}
	got := run.Counters
	if roles {
		twice := run.Closing.Twice
		if got.Received+twice != sum.Received || got.Duplicated-twice != sum.Duplicated {
			f.t.Errorf("the result has %d received and %d duplicates, and the agents %d and %d: %d came to two", got.Received, got.Duplicated, sum.Received, sum.Duplicated, twice)
		}
	}
	if got.Sent != sum.Sent || got.Received > sum.Received || !lost && !roles && got != sum {
		f.t.Errorf("the counters are\n%+v, and of the agents\n%+v", run.Counters, sum)
	}
}

// Coordinator, three agents and broker are in five network namespaces: the result is what the agents recorded, and nothing is
// missing.
func TestAFleetInNamespaces(t *testing.T) {
	t.Parallel()
	f := newApartFleet(t)
	c, agents := f.run("whole", "--duration", "2s")
	f.ends(c)
	run := f.result("whole")
	if n := run.Counters; n.Scheduled != 1200 || n.Sent != n.Scheduled || n.Received != n.Sent || len(run.Header.Fleet.Agents) != len(agents) {
		t.Errorf("%+v of %d agents", n, len(run.Header.Fleet.Agents))
	}
	for _, p := range agents {
		if err := p.Process.Signal(syscall.SIGTERM); err != nil {
			t.Error(err)
		}
		f.ends(p)
		if code := p.ProcessState.ExitCode(); code != exitOK {
			t.Errorf("%s: exit code %d", p, code)
		}
	}
	left, err := filepath.Glob(filepath.Join(f.dir, "wholem*", "*"))
	if err != nil || len(left) > 0 {
		t.Errorf("the agents keep %q, %v", left, err)
	}
}

// ends waits for the end of a process.
func (f *apartFleet) ends(p *apartProcess) {
	f.t.Helper()
	select {
	case <-p.over:
	case <-time.After(2 * patience):
		f.t.Fatalf("%s does not end", p)
	}
}

// An agent and its way to the others end at the same time, as where its pod is deleted: the control plane keeps its connection, and
// the broker does. The run ends in its time, names the agent, and counts the rest of its segment as not sent.
func TestAnAgentsNamespaceIsGone(t *testing.T) {
	t.Parallel()
	f := newApartFleet(t)
	c, agents := f.run("gone", "--duration", "3s", "--drain", "1s")
	f.until(c, "the last agent has recorded some of the window", func() bool {
		found, _ := filepath.Glob(filepath.Join(f.dir, "results", "gone-*.agents", "m3.jsonl"))
		return len(found) == 1 && hasIntervals(found[0], 5)
	})
	if err := agents[2].Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	var links []netns.Link
	for _, other := range append([]netip.Addr{f.network.Host()}, f.addresses()...) {
		if own := f.agents[2].Addr; other != own {
			links = append(links, netns.Link{From: other, To: own}, netns.Link{From: own, To: other})
		}
	}
	if _, err := f.network.Cut(links); err != nil {
		t.Fatal(err)
	}
	if err := agents[2].Process.Kill(); err != nil {
		t.Fatal(err)
	}
	f.ends(c)
	if code := c.ProcessState.ExitCode(); code != exitFailure || !strings.Contains(c.errs.String(), "agent m3: ") {
		t.Errorf("exit code %d, %s", code, c.errs.String())
	}
	run := f.result("gone")
	n := run.Counters
	if n.Scheduled != 1800 || n.NotSent == 0 || n.NotSent > 600 || n.Sent+n.NotSent != n.Scheduled {
		t.Errorf("%+v", n)
	}
	if v := run.Summary.Verdict; v.Status == result.Valid || !slices.ContainsFunc(v.Reasons, func(r result.Reason) bool { return r.Code == result.ReasonAgentLost }) {
		t.Errorf("%v", v)
	}
}

// addresses are those of the nodes.
func (f *apartFleet) addresses() (all []netip.Addr) {
	for _, n := range f.network.Nodes() {
		all = append(all, n.Addr)
	}
	return all
}

// hasIntervals reports whether a result that grows has so many intervals.
func hasIntervals(file string, n int) bool {
	text, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return false
	}
	return bytes.Count(text, []byte(`{"type":"interval"`)) > n
}

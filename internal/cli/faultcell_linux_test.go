package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"sixnines/internal/brokers"
	"sixnines/internal/brokers/brokertest"
	"sixnines/internal/journal"
	"sixnines/result"
)

// faultsVariable has the tests of faults run on every managed broker if it is "all": an hour. Else they run
// each kind of action once and each broker once.
const faultsVariable = "SIXNINES_FAULTS"

// faultCell is a driver with the broker that is started for its run.
type faultCell struct {
	driver   string
	product  string
	nodes    int
	options  string // target.options
	settings string // target.settings
	slow     bool   // its nodes take seconds to start
	corrupt  string // a pattern for files that a run writes; empty: it has none
	leads    string // what a leader can have: stall, freeze, transfer, kill; empty: it has no leaders
	follow   int    // how many follow a leader; 0: all others
	fixed    bool   // its connections are not ours to cut
	lingers  bool   // its outage is measurably longer than the stall, so that the stall oracle does not hold
}

// String has no comma: a directory of the test is named after it, and Kafka takes several that commas separate.
func (c faultCell) String() string { return fmt.Sprintf("%s on %s %d", c.driver, c.product, c.nodes) }

// faultCells lists the drivers with each managed broker, from the fastest to start to the slowest.
func faultCells() []faultCell {
	const heap = "java.heap: 256m"
	return []faultCell{
		{driver: "null", product: "null", nodes: 1},
		{driver: "nats", product: "nats", nodes: 1},
		{driver: "redis", product: "redis", nodes: 1},
		{driver: "redis-streams", product: "redis", nodes: 1, settings: `appendonly: "yes"`, corrupt: "*.aof"},
		{driver: "jetstream", product: "nats", nodes: 1, corrupt: "*.blk"},
		{driver: "mqtt", product: "mosquitto", nodes: 1},
		{driver: "mqtt", product: "nats", nodes: 1, options: "version: 3.1.1", corrupt: "*.blk"},
		{driver: "nsq", product: "nsq", nodes: 1, corrupt: "*.dat"},
		{driver: "stan", product: "nats-streaming", nodes: 1},
		{driver: "nats", product: "nats", nodes: 3},
		{driver: "jetstream", product: "nats", nodes: 3, options: "replicas: 3", corrupt: "*.blk", leads: "stall freeze transfer kill"},
		{driver: "redis-streams", product: "redis", nodes: 3, settings: `appendonly: "yes"`, corrupt: "*.aof", leads: "stall freeze transfer kill"},
		{driver: "redis-streams", product: "redis-cluster", nodes: 6, settings: `appendonly: "yes"`, corrupt: "*.aof", leads: "stall freeze transfer kill", follow: 1},
		{driver: "amqp10", product: "artemis", nodes: 1, slow: true, corrupt: "*.amq"},
		{driver: "rabbitmq", product: "rabbitmq", nodes: 1, slow: true, corrupt: "*"},
		{driver: "rabbitmq-stream", product: "rabbitmq", nodes: 1, slow: true, corrupt: "*.segment"},
		{driver: "amqp10", product: "rabbitmq", nodes: 1, slow: true, corrupt: "*"},
		{driver: "kafka", product: "kafka", nodes: 1, slow: true, settings: heap, corrupt: "*.log"},
		{driver: "pulsar", product: "pulsar", nodes: 1, slow: true, corrupt: "*", fixed: true, lingers: true},
		{driver: "rabbitmq", product: "rabbitmq", nodes: 3, options: "queue_type: quorum", slow: true, corrupt: "*.wal", leads: "stall freeze transfer kill"},
		{driver: "rabbitmq-stream", product: "rabbitmq", nodes: 3, slow: true, corrupt: "*.segment", leads: "stall freeze kill"},
		{driver: "kafka", product: "kafka", nodes: 3, options: "replication_factor: 3", settings: heap, slow: true, corrupt: "*.log", leads: "stall freeze transfer kill", lingers: true},
	}
}

// diskless reports whether the broker keeps nothing that a power failure could take.
func (c faultCell) diskless() bool {
	p, _ := brokers.Lookup(c.product)
	return p.Diskless != ""
}

// installed skips the test, or fails it where brokers are required, if the product is not here.
func (c faultCell) installed(t *testing.T) {
	t.Helper()
	p, ok := brokers.Lookup(c.product)
	if !ok {
		t.Fatalf("there is no product %s", c.product)
	}
	h := brokertest.Home(t)
	h.Self = []string{os.Args[0]}
	if _, err := p.Find(t.Context(), h); errors.Is(err, brokers.ErrNotInstalled) {
		brokertest.Missing(t, err)
	}
}

// faultStep is an action of a timeline.
type faultStep struct {
	text  string        // the action without its instant
	nodes int           // how many it happens to
	takes time.Duration // until the next may begin
}

// faultPlan is a timeline.
type faultPlan []faultStep

// begins is when the first step of a timeline happens: actions on networks take a second to prepare.
const begins = 1200 * time.Millisecond

// actions writes the timeline, and how long its window is.
func (p faultPlan) actions() (text string, window time.Duration) {
	var all []string
	at := begins
	for _, s := range p {
		all = append(all, fmt.Sprintf("  - {at: %s, %s}\n", at, s.text))
		at += s.takes
	}
	return strings.Join(all, ""), at
}

// faultRun is a run of the command that has ended.
type faultRun struct {
	*result.Run
	file string
	said string // stderr
}

// faultProcess is a run of the command with a home and a directory for temporary files of its own.
type faultProcess struct {
	cmd       *exec.Cmd
	dir       string
	said      *bytes.Buffer
	temporary string
}

// faultLimit bounds a run beside its window. It decides only how long a failure takes.
const faultLimit = 5 * time.Minute

// scenario writes a scenario of the cell.
func (c faultCell) scenario(load, actions string, window time.Duration) string {
	return fmt.Sprintf("target: {driver: %q, managed: %q, nodes: %d, options: {%s}, settings: {%s}}\nworkload: {%s}\nphases: {warmup: 300ms, duration: %s, drain: 3s}\nactions:\n%s",
		c.driver, c.product, c.nodes, c.options, c.settings, load, window, actions)
}

// start starts the run of a scenario.
func (c faultCell) start(t *testing.T, load, actions string, window time.Duration) *faultProcess {
	t.Helper()
	p := &faultProcess{dir: t.TempDir(), said: &bytes.Buffer{}}
	file := filepath.Join(p.dir, "scenario.yaml")
	p.temporary = filepath.Join(p.dir, "tmp")
	if err := errors.Join(os.WriteFile(file, []byte(c.scenario(load, actions, window)), 0o644), os.Mkdir(p.temporary, 0o755)); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), window+faultLimit)
	t.Cleanup(cancel)
	p.cmd = exec.CommandContext(ctx, "sixnines", "run", file, "--out", filepath.Join(p.dir, "out"))
	p.cmd.Env = append(os.Environ(), "TMPDIR="+p.temporary, brokers.HomeVariable+"="+homeWithBrokers(t))
	p.cmd.Stderr = p.said
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return p
}

// homeWithBrokers is a home of its own in which the brokers are that this machine has.
func homeWithBrokers(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	installed, err := os.ReadDir(brokertest.Home(t).Dir)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	for _, e := range installed {
		if !slices.Contains([]string{"data", "run", "undo", "install.lock"}, e.Name()) {
			if err := os.Symlink(brokertest.Home(t).Path(e.Name()), filepath.Join(dir, e.Name())); err != nil {
				t.Fatal(err)
			}
		}
	}
	return dir
}

// ended waits for the end of the run, and checks that it left nothing on the machine and that its result closes. A
// broker whose disk is damaged or full may end by itself, which is a reason of the verdict; others may not.
func (p *faultProcess) ended(t *testing.T, damaged bool) *faultRun {
	t.Helper()
	err := p.cmd.Wait() // its exit code is judged below
	r := &faultRun{said: p.said.String()}
	code := p.cmd.ProcessState.ExitCode()
	p.leftNothing(t)
	files, globbing := filepath.Glob(filepath.Join(p.dir, "out", "*.jsonl"))
	if globbing != nil || len(files) != 1 {
		t.Fatalf("%v: the results %q: %s", err, files, r.said)
	}
	r.file = files[0]
	if out, err := exec.Command("sixnines", "verify", r.file).CombinedOutput(); err != nil {
		t.Errorf("verify: %v: %s", err, out)
	}
	if r.Run, err = result.Load(r.file); err != nil {
		t.Fatal(err)
	}
	died := slices.ContainsFunc(r.Summary.Verdict.Reasons, func(x result.Reason) bool { return x.Code == result.ReasonBrokerEnded })
	left := len(r.Summary.Left) > 0 // of a broker with damaged files
	if code != exitOK && code != exitInvalid && !(damaged && code == exitFailure && (died || left)) || died && !damaged {
		t.Fatalf("the run ends with exit code %d, a broker that ended by itself: %t, something left: %t: %s", code, died, left, r.said)
	}
	for _, part := range r.Parts() {
		if ok, why := part.Counters.Conserved(); !ok {
			t.Errorf("%s: %+v", why, part.Counters)
		}
	}
	return r
}

// rulesOfRun returns the lines of this machine's packet rules with the names of chains that a process made.
func rulesOfRun(t *testing.T, process int) (all []string) {
	t.Helper()
	for _, program := range []string{"iptables-legacy-save", "ip6tables-legacy-save"} {
		out, err := exec.Command(program).Output()
		if err != nil && !errors.Is(err, exec.ErrNotFound) {
			t.Fatalf("%s: %v", program, err)
		}
		for line := range strings.Lines(string(out)) {
			if strings.Contains(line, fmt.Sprintf("%s-%d-", journal.Mark, process)) {
				all = append(all, line)
			}
		}
	}
	return all
}

// leftNothing checks that neither processes, interfaces, mounts, loop devices, rules, files nor traces in the journal are
// left of the run. Processes are those with its directory for temporary files, which no other run has.
func (p *faultProcess) leftNothing(t *testing.T) {
	t.Helper()
	deadline := time.Now().Add(30 * time.Second)
	for {
		left := p.left(t)
		if len(left) == 0 {
			return
		}
		if time.Now().After(deadline) {
			t.Errorf("left on the machine: %q", left)
			return
		}
		time.Sleep(10 * time.Millisecond) // between looks
	}
}

func (p *faultProcess) left(t *testing.T) (all []string) {
	t.Helper()
	environs, err := filepath.Glob("/proc/[0-9]*/environ")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range environs {
		if text, _ := os.ReadFile(file); bytes.Contains(text, []byte("TMPDIR="+p.temporary+"\x00")) {
			all = append(all, filepath.Dir(file))
		}
	}
	links, err := net.Interfaces()
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range links {
		if strings.HasPrefix(l.Name, "s9-"+strconv.Itoa(p.cmd.Process.Pid)+"-") {
			all = append(all, l.Name)
		}
	}
	all = append(all, rulesOfRun(t, p.cmd.Process.Pid)...)
	loops, err := filepath.Glob("/sys/block/loop*/loop/backing_file")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range append(loops, "/proc/self/mountinfo") {
		if text, _ := os.ReadFile(file); bytes.Contains(text, []byte(p.temporary)) {
			all = append(all, file)
		}
	}
	var home string
	for _, v := range p.cmd.Env {
		if dir, is := strings.CutPrefix(v, brokers.HomeVariable+"="); is {
			home = dir
		}
	}
	for _, pattern := range []string{filepath.Join(p.temporary, "*"), filepath.Join(home, "undo", "*.journal")} {
		files, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, files...)
	}
	return all
}

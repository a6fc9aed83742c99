package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// step is how a command of the documents is tried.
type step struct {
	line string // as the document has it
	// with is put at the end of the line: a shorter run, or what would be done where the
	// command needs machines or hours.
	with  string
	codes []int // that it may end with; nil: 0
	// before is what the reader did before it, by the document.
	before string
	says   string
	// skip says why the line is not tried here.
	skip string
}

// judged are the exit codes of a run on a machine that may be disturbed.
func judged() []int { return []int{0, 4} }

const (
	briefly = "--duration 300ms --warmup 200ms"
	dry     = "--dry-run"
)

// hour is the first hour of somebody new: each command of README.md and docs/start.md, in an
// order in which they can follow each other.
func hour() []step {
	const made = "CI does this before"
	return []step{
		{line: "git clone <this repository> sixnines && cd sixnines", skip: made},
		{line: "make", skip: made},
		{line: "make test", skip: made},
		{line: `export PATH="$PWD/bin:$PATH"`, skip: made},
		{line: "sixnines help", says: `Usage:`},
		{line: "go run ./cmd/sixnines run", skip: "it is the next one, compiled"},
		{line: "sixnines run", codes: judged(), says: `(?s)received 10,000 of 10,000.*results/nats-deliver-.*html`},
		{line: "sixnines run --rate 20000/s --duration 60s --dry-run", says: `1,200,000`},
		{line: "sixnines run nats --url nats://broker:4222 --rate 20k/s --size 1KiB --duration 60s", with: dry, says: `1,200,000`},
		{line: "sixnines run scenario.yaml --dry-run", says: `(?m)^workload`},
		{line: "sixnines drivers list", says: `(?s)kafka.*rabbitmq`},
		{line: "sixnines drivers show kafka", says: `acks`},
		{line: "sixnines run redis --url redis://broker:6379 --option user=me --option password=env:PASSWORD", with: dry, says: `redis://broker:6379`},
		{line: "sixnines run redis --url redis://elsewhere:6379 --option user=me --option password=env:PASSWORD", with: dry, says: `redis://elsewhere:6379`},
		{line: "sixnines run --repeat 10 --duration 5s --out results/baseline", with: briefly, codes: judged(), says: `(?s)the set of 10 runs: .*BETWEEN 10 RUNS`},
		{line: "sixnines compare --gate --percentile 50,99 results/baseline results/new", codes: []int{0, 3, 4},
			before: "sixnines run --repeat 10 --quiet --out results/new " + briefly + " >/dev/null; ", says: `p50`},
		{line: "sixnines run --duration 20s --slo 'p99 < 50ms' --slo 'lost == 0' --junit slo.xml", with: "--duration 2s", codes: []int{0, 3, 4}, says: `p99 < 50ms`},
		{line: "sixnines ab nats --for 3m --percentile 50 --min-effect 10% --b setting.max_pending=1MB", with: dry, says: `(?s)max_pending.*about 2 min \d+ s: \d+ pairs`},
		{line: "sixnines ab nats --b setting.max_pending=1MB --duration 5s", with: "--pairs 6 --design beside --replace 0 " + briefly, codes: []int{0, 1, 3, 4}, // 1: all are INVALID, as on a starved machine
			says: `(?s)max_pending.*results/ab-\d`},
		{line: "sixnines ab nats --b option.client=library --duration 5s", with: dry, says: `(?s)option.client.*about 2 min \d+ s: 10 pairs`},
		{line: "sixnines capacity kafka --slo 'p99 < 10ms' --for 2M/s --headroom 50%", with: dry, says: `about 30 trials of 12 s or more take 6 min to 24 min`},
		{line: "sixnines sweep nats --over rate=1k/s..64k/s:log:7", with: "--rounds 1 " + briefly, codes: judged(), says: `(?s)64,000/s.*results/sweep-nats-`},
		{line: "sixnines study run message-queue-latency", with: dry, says: `\d+ trials of \d+ cells, about (\d+ h )?\d+ min`},
		{line: "sixnines study run clients", with: dry, says: `\d+ trials of \d+ cells, about (\d+ h )?\d+ min`},
		{line: "sixnines run scenario.yaml --fleet embedded --fleet-agents 3", with: "--fleet-wait 1s --duration 2s", codes: []int{1}, says: `agent --join`},
		{line: "sixnines run --metrics :9464 --otlp http://collector:4318", with: "--metrics :0 " + briefly, codes: judged(), says: `metrics http://127\.0\.0\.1:\d+/metrics`},
		{line: "sixnines doctor", codes: []int{0, 1}, says: `^(Fit|Not fit) to measure`},
		{line: "sixnines selftest", with: "--short --only intervals,interop", says: `2 trials: 2 passed`},
		{line: "sixnines verify results/*.jsonl", says: `nats-deliver`},
		{line: "sixnines broker install kafka", with: dry, says: `kafka`},
		{line: "sixnines run kafka --nodes 3", with: dry, says: `nodes: 3`},
		{line: "echo $?", skip: "it is the shell's"},
	}
}

// commandsOf returns the lines of a document that a reader types, without comments.
func commandsOf(t *testing.T, file string) (out []string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", file))
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range strings.Split(string(text), "\n") {
		if line, is := strings.CutPrefix(l, "$ "); is {
			out = append(out, strings.TrimSpace(regexp.MustCompile(`\s{2,}#.*$`).ReplaceAllString(line, "")))
		}
	}
	return out
}

// TestHour types every command of README.md and docs/start.md as somebody new would, and looks
// at what it says. A command that is not in the table fails, so does one that no document has.
func TestHour(t *testing.T) {
	var typed []string
	for _, file := range []string{"README.md", "docs/start.md"} {
		typed = append(typed, commandsOf(t, file)...)
	}
	steps := hour()
	for _, line := range typed {
		if !slices.ContainsFunc(steps, func(s step) bool { return s.line == line }) {
			t.Errorf("a document has a command that is not tried: %s", line)
		}
	}
	root, err := filepath.Abs(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	bin, dir := t.TempDir(), t.TempDir()
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", filepath.Join(bin, "sixnines"), ".").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	text, err := os.ReadFile(filepath.Join(root, "examples", "scenarios", "ci-gate.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "scenario.yaml"), text, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, s := range steps {
		if !slices.Contains(typed, s.line) {
			t.Errorf("no document has the command %s", s.line)
			continue
		}
		if s.skip != "" {
			continue
		}
		t.Run(s.line, func(t *testing.T) {
			c := exec.CommandContext(t.Context(), "bash", "-c", s.before+s.line+" "+s.with)
			c.Dir = dir
			c.Env = append(os.Environ(), "PATH="+bin+string(os.PathListSeparator)+os.Getenv("PATH"), "PASSWORD=not-shown", "NO_COLOR=1")
			out, err := c.CombinedOutput()
			code := 0
			if exit := new(exec.ExitError); errors.As(err, &exit) {
				code = exit.ExitCode()
			} else if err != nil {
				t.Fatal(err)
			}
			if codes := s.codes; !slices.Contains(codes, code) && (codes != nil || code != 0) {
				t.Fatalf("it ends with %d, not with %v:\n%s", code, codes, out)
			}
			if !regexp.MustCompile(s.says).Match(out) {
				t.Errorf("it does not say %q:\n%s", s.says, out)
			}
			if strings.Contains(string(out), "not-shown") {
				t.Error("it shows the password")
			}
		})
	}
}

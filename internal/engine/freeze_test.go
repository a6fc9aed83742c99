package engine

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"sixnines/drivers/nats"
	"sixnines/internal/clock"
	"sixnines/internal/probe"
	"sixnines/result"
	"sixnines/scenario"
)

// runsScenario makes the test binary run one scenario and nothing else.
const runsScenario = "SIXNINES_ENGINE_TEST_RUNS"

// runAlone is the child's side: scenario, URL and file by the environment;
// a line on stdout for each interval.
func runAlone() int {
	s, err := scenario.Parse("child", []byte(os.Getenv(runsScenario)))
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	s.Normalise()
	entry := nats.Entry()
	if d := (tidy{}).Entry(); s.Target.Driver == d.Name {
		entry = d
	}
	exe, err := os.Executable()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	_, err = Run(context.Background(), Config{Scenario: s, Entry: entry, Probe: []string{exe, probe.Command}, URL: os.Getenv(runsScenario + "_URL"),
		File: os.Getenv(runsScenario + "_FILE"), Observer: func(p Progress) { fmt.Println(p.Phase, p.Elapsed) }})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// startAlone runs a scenario in a process of its own and returns when the
// first interval of the window has been written.
func startAlone(t *testing.T, text, url string) (cmd *exec.Cmd, file string) {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	file = filepath.Join(t.TempDir(), "run.jsonl")
	cmd = exec.Command(exe)
	cmd.Env = append(os.Environ(), runsScenario+"="+text, runsScenario+"_URL="+url, runsScenario+"_FILE="+file)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		if strings.HasPrefix(lines.Text(), result.PhaseMeasure) {
			go func() {
				for lines.Scan() {
				}
			}()
			return cmd, file
		}
	}
	_ = cmd.Wait()
	t.Fatal("the run ended before its first interval")
	return nil, ""
}

// A generator that was itself frozen for most of the window must not name the broker as the
// cause: no percentile stands.
func TestSelfFreezeIsInvalid(t *testing.T) {
	t.Parallel()
	judgesFigures(t)
	b := startNATS(t)
	cmd, file := startAlone(t, "phases: {warmup: 200ms, duration: 2s}\nworkload: {rate: 2000/s}", b.URL)
	if err := cmd.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	clock.SleepUntilBlocking(clock.Now() + int64(1400*time.Millisecond))
	if err := cmd.Process.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Fatal(err)
	}
	r, err := result.Load(file)
	if err != nil {
		t.Fatal(err)
	}
	v := r.Summary.Verdict
	if v.Status != result.Invalid {
		t.Errorf("a frozen generator's verdict is %s: %s", v.Status, show(r))
	}
	self := false
	for _, reason := range v.Reasons {
		self = self || reason.Status == result.Invalid && (reason.Code == "frozen" || strings.Contains(reason.Text, "generator"))
	}
	if !self {
		t.Errorf("no reason names the generator: %+v", v.Reasons)
	}
	if n := r.Counters.Scheduled; n != 4000 {
		t.Errorf("%d of 4000 messages scheduled", n)
	}
	t.Log(show(r))
}

// A run that is killed leaves everything up to its last whole interval.
func TestKilledRunIsReadable(t *testing.T) {
	t.Parallel()
	b := startNATS(t)
	cmd, file := startAlone(t, "phases: {warmup: 200ms, duration: 30s}\nworkload: {rate: 1000/s}\nrecord: {interval: 300ms}", b.URL)
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // killed
	r, err := result.Load(file)
	if err != nil {
		t.Fatal(err)
	}
	if r.Summary != nil || len(r.Series) < 1 || r.Counters.Received < 270 {
		t.Errorf("%d intervals, summary %v, %+v", len(r.Series), r.Summary, r.Counters)
	}
}

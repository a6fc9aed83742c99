package cli

import (
	"os/exec"
	"strings"
	"testing"
	"time"
)

// A command that is killed (SIGKILL) while it has conditions of the network in effect leaves rules that let packets pass, and the
// broker's directory. doctor lists both, doctor --clean removes them, and the machine is as before.
func TestKilledWithConditions(t *testing.T) {
	c := faultCell{driver: "redis", product: "redis", nodes: 1}
	c.installed(t)
	if why := faultsSkipped("loopback"); why != "" {
		t.Skip("SKIPPED: " + why)
	}
	p := c.start(t, "rate: 100/s, size: 128B", "  - {at: 500ms, network: {delay: 2ms}, for: 2m}\n", 3*time.Minute)
	for deadline := time.Now().Add(time.Minute); len(rulesOfRun(t, p.cmd.Process.Pid)) == 0; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("no rule is there: %s", p.said)
		}
	}
	if err := p.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = p.cmd.Wait()
	doctor := func(args ...string) string {
		t.Helper()
		d := exec.Command("sixnines", append([]string{"doctor"}, args...)...)
		d.Env = p.cmd.Env
		out, err := d.CombinedOutput()
		if d.ProcessState == nil {
			t.Fatal(err)
		}
		return string(out) // other checks of the machine decide its exit code
	}
	for _, words := range []string{"to clean up: remove the rules in sixnines-", "to clean up: remove the broker's directory " + p.temporary} {
		if out := doctor(); !strings.Contains(strings.Join(strings.Fields(out), " "), words) {
			t.Errorf("doctor does not say %q:\n%s", words, out)
		}
	}
	if out := doctor("--clean"); !strings.Contains(out, "cleaned up: remove the rules in sixnines-") {
		t.Errorf("doctor --clean says:\n%s", out)
	}
	p.leftNothing(t)
	if out := doctor(); !strings.Contains(out, "nothing") {
		t.Errorf("doctor still says:\n%s", out)
	}
}

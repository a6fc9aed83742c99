package cli

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"sixnines/internal/brokers"
)

// runActs are actions of the run by their kinds, each with %s for its node.
func runActs() map[string]string {
	return map[string]string{
		"stall":     "stall: {node: %s}, for: 1s",
		"freeze":    "freeze: {node: %s}, for: 1s",
		"kill":      "kill: {node: %s}, restart: 1s",
		"terminate": "terminate: {node: %s}, restart: 1s",
		"restart":   "restart: {node: %s, after: 1s}",
		"rolling":   "rolling: {restart: %s}",
		"power":     "power: {node: %s}, restart: 1s",
		"disk":      "disk: {full: true, node: %s}, for: 1s",
		"corrupt":   `corrupt: {node: %s, file: "*"}`,
		"cut":       "cut: {from: clients, to: %s}, for: 1s",
	}
}

// An action that cannot be is refused before anything is started, with what is wrong and what would work.
func TestRefusedFaults(t *testing.T) {
	dir := t.TempDir()
	refused := func(t *testing.T, args []string, cause, hint string) {
		t.Helper()
		code, _, errs := invoke(t, Env{Dir: dir}, append([]string{"run"}, args...)...)
		if code != exitUsage || !strings.Contains(errs, cause) || !strings.Contains(errs, hint) {
			t.Errorf("%q: exit code %d, want the cause %q and the hint %q:\n%s", args, code, cause, hint, errs)
		}
		if made, err := os.ReadDir(dir); err != nil || len(made) > 0 {
			t.Errorf("%q: %v was made, %v", args, made, err)
		}
	}
	set := func(at, act, node string) []string {
		if strings.Contains(act, "%s") {
			act = fmt.Sprintf(act, node)
		}
		return []string{"--set", "actions[]={at: " + at + ", " + act + "}"}
	}
	three := []string{"jetstream", "--nodes", "3"}
	for kind, act := range runActs() {
		t.Run(kind, func(t *testing.T) {
			refused(t, append(three, set("1s", act, "3")...), "node 3", "")
			refused(t, append(three, set("1s", act, "first")...), `"first"`, "")
			refused(t, append([]string{"nats", "--nodes", "3"}, set("1s", act, "leader")...), kind+": messages of driver nats have no leader", "name nodes by number")
			foreign := kind + " needs a broker that is started for the run, and this one is not"
			if kind == "cut" { // from all of a broker's nodes clients can be cut, whoever started it
				foreign = "cut of single nodes happens to a broker that is started for the run, and this one is not"
			}
			refused(t, append([]string{"nats", "--url", "nats://127.0.0.1:1"}, set("1s", act, "0")...), foreign, "leave the broker's address out")
			refused(t, append([]string{"mem"}, set("1s", act, "0")...), kind+": driver mem has no broker", "such as nats")
			refused(t, append(three, set("10s", act, "0")...), "after the window of 10s has ended", "lengthen phases.duration")
			if kind != "rolling" && kind != "corrupt" { // how long a restart takes is not known, and bits stay
				refused(t, append(three, set("9500ms", act, "0")...), "lasts until 10.5s, after the window of 10s has ended", "lengthen phases.duration")
			}
			if kind == "corrupt" || kind == "cut" {
				return // may be while another lasts
			}
			two := append(set("1s", act, "0"), set("1s", "stall: {node: all}, for: 1s", "")...)
			refused(t, append(three, two...), "two actions on the same node at the same time", "start the second when the first has ended")
			down := append(set("1s", "kill: {node: 0}", ""), set("5s", act, "0")...)
			refused(t, append(three, down...), "two actions on the same node at the same time", "name different nodes")
		})
	}
	refused(t, append(three, set("10s", "network: {delay: 5ms}, for: 1s", "")...), "after the window of 10s has ended", "lengthen phases.duration")
	refused(t, append(three, append(set("1s", "network: {delay: 5ms}, for: 2s", ""), set("2s", "network: {loss: 1%}, for: 1s", "")...)...), "two actions network", "")
	refused(t, append([]string{"null"}, set("1s", "power: {node: 0}", "")...), "it keeps nothing on disk", "kill: {node: 0}")
}

// Without privileges what needs them is refused, and says what would work.
func TestFaultsNeedPrivileges(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("SKIPPED: it takes root to give up its rights")
	}
	home := filepath.Join(os.TempDir(), fmt.Sprintf("sixnines-nobody-%d", os.Getpid()))
	const nobody = 65534
	if err := os.Mkdir(home, 0o755); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(home) })
	if err := os.Chown(home, nobody, nobody); err != nil {
		t.Fatal(err)
	}
	for act, want := range map[string][2]string{
		"cut: {from: clients, to: 0}, for: 1s": {"cut needs a network namespace for each node", "to stall or freeze a node needs no privileges"},
		"power: {node: 0}, restart: 1s":        {"power: ", "kill: {node: 0} only ends the processes"},
		"disk: {full: true}, for: 1s":          {"disk: ", "kill: {node: all} only ends the processes"},
		"network: {loss: 1%}, for: 1s":         {"network: no mechanism of this machine can do that", "docs/network.md"},
		"network: {delay: 5ms}, for: 1s":       {"", ""},
		"stall: {node: 0}, for: 1s":            {"", ""},
	} {
		var said bytes.Buffer
		c := exec.Command("/proc/self/exe")
		c.Args = []string{"sixnines", "run", "jetstream", "--dry-run", "--set", "actions[]={at: 1s, " + act + "}"}
		c.Dir, c.Stderr = home, &said
		c.Env = append(os.Environ(), brokers.HomeVariable+"="+home)
		c.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
		err := c.Run()
		_, hint, _ := strings.Cut(said.String(), "hint: ")
		code := exitOK
		if want[0] != "" {
			code = exitUsage
		}
		if c.ProcessState == nil || c.ProcessState.ExitCode() != code || !strings.Contains(said.String(), want[0]) || !strings.Contains(hint, want[1]) {
			t.Errorf("%s: %v, want %q:\n%s", act, err, want, said.String())
		}
	}
}

//go:build unix

package brokers

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"sixnines/internal/filelock"
)

// toolbox is a product that is found when it has both of its directories.
func toolbox(h Home) Product {
	return Product{Name: "toolbox", Clusters: []int{1}, find: func(context.Context, Home) (Installation, error) {
		for _, dir := range []string{"a", "b"} {
			if text, err := os.ReadFile(h.Path(dir, "done")); err != nil || string(text) != "yes\n" {
				return Installation{}, notInstalled(h.Path(dir))
			}
		}
		return Installation{Version: "1", Path: h.Path("a"), Origin: "installed by sixnines"}, nil
	}}
}

// filling is a step that fills the directory by a line for the shell.
func filling(h Home, dir, script string) Step {
	staged := h.Path(dir + ".part")
	return Step{Doc: "fill " + dir, Dir: staged, Command: []string{"sh", "-c", script},
		Files: map[string]string{"sub/given": "text\n"}, Moves: map[string]string{staged: h.Path(dir)}}
}

func testHome(t *testing.T) Home {
	return Home{Dir: t.TempDir(), Environ: os.Environ()}
}

func installer(t *testing.T, h Home, output *strings.Builder) *Installer {
	t.Helper()
	in, err := NewInstaller(h, output)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(in.Close)
	return in
}

// files lists what lies below the home but for locks.
func files(t *testing.T, h Home) []string {
	t.Helper()
	var all []string
	entries, err := os.ReadDir(h.Dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), ".lock") {
			all = append(all, e.Name())
		}
	}
	return all
}

const write = "test -f sub/given && echo yes >done && echo filled"

func TestInstall(t *testing.T) {
	h := testHome(t)
	var output strings.Builder
	in := installer(t, h, &output)
	steps := []Step{filling(h, "a", write), filling(h, "b", `test "$WHAT" = 7 && `+write)}
	steps[1].Env = []string{"WHAT=7"}
	var told []string
	for range 2 {
		found, err := in.Install(t.Context(), toolbox(h), steps, func(s Step) { told = append(told, s.Doc) })
		if err != nil || found.Path != h.Path("a") {
			t.Fatalf("%+v, %v", found, err)
		}
	}
	if fmt.Sprint(told) != "[fill a fill b]" {
		t.Errorf("told of %q: the second time there is nothing to do", told)
	}
	if output.String() != "filled\nfilled\n" {
		t.Errorf("the commands printed %q", &output)
	}
	if got := files(t, h); fmt.Sprint(got) != "[a b]" {
		t.Errorf("there is %q", got)
	}
}

func TestInstallThatFailsLeavesNothing(t *testing.T) {
	h := testHome(t)
	var output strings.Builder
	in := installer(t, h, &output)
	_, err := in.Install(t.Context(), toolbox(h), []Step{filling(h, "a", write), filling(h, "b", "echo out of luck >&2; exit 3")}, nil)
	if err == nil || !strings.Contains(err.Error(), "fill b") || !strings.Contains(err.Error(), "out of luck") {
		t.Errorf("%v", err)
	}
	if got := files(t, h); len(got) > 0 {
		t.Errorf("left behind: %q", got)
	}
	_, err = in.Install(t.Context(), toolbox(h), []Step{filling(h, "a", write)}, nil)
	if !errors.Is(err, ErrNotInstalled) {
		t.Errorf("everything was done, and what it should lead to is not there: %v", err)
	}
	missing := filling(h, "a", "")
	missing.Command = []string{"no-such-program"}
	if _, err = in.Install(t.Context(), toolbox(h), []Step{missing}, nil); err == nil || !strings.Contains(err.Error(), "no-such-program is not on PATH") {
		t.Errorf("%v", err)
	}
	outside := filling(h, "a", write)
	outside.Moves = map[string]string{h.Path("a.part"): filepath.Join(h.Dir, "..", "elsewhere")}
	if _, err = in.Install(t.Context(), toolbox(h), []Step{outside}, nil); err == nil || !strings.Contains(err.Error(), "is not below") {
		t.Errorf("%v", err)
	}
}

// A killed installer leaves nothing that is found as an installation, and nothing that
// hinders the next installer.
func TestKilledInstallIsNotFound(t *testing.T) {
	h := testHome(t)
	p := toolbox(h)
	ctx, cancel := context.WithCancel(t.Context())
	var output strings.Builder
	ready := func(path string) {
		t.Helper()
		for limit := time.Now().Add(patience); ; time.Sleep(time.Millisecond) {
			if _, err := os.Stat(path); err == nil {
				return
			}
			if time.Now().After(limit) {
				t.Fatalf("%s does not come", path)
			}
		}
	}
	failed := make(chan error, 1)
	in, err := NewInstaller(h, &output)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := NewInstaller(h, &output); !errors.Is(err, filelock.ErrBusy) {
		t.Errorf("two at once: %v", err)
	}
	go func() {
		_, err := in.Install(ctx, p, []Step{filling(h, "a", write), filling(h, "b", "echo yes >done; exec sleep 600")}, nil)
		failed <- err
	}()
	ready(h.Path("b.part", "done"))
	if _, err := p.Find(ctx, h); !errors.Is(err, ErrNotInstalled) {
		t.Errorf("half an installation is found: %v", err)
	}
	// Simulate SIGKILL: restore the files that exist at this moment after the clean-up.
	if err := os.CopyFS(h.Path("copy"), os.DirFS(h.Path("b.part"))); err != nil {
		t.Fatal(err)
	}
	cancel()
	if err := <-failed; !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	in.Close()
	if err := os.Rename(h.Path("copy"), h.Path("b.part")); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(h.Path("b.part", "rubbish"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(h.Path("a"), 0o755); err != nil { // not whole
		t.Fatal(err)
	}
	if _, err := installer(t, h, &output).Install(t.Context(), p, []Step{filling(h, "a", write), filling(h, "b", write)}, nil); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(h.Path("b", "rubbish")); err == nil {
		t.Error("what an earlier one left behind was taken over")
	}
}

func TestInstallNeedsAPerson(t *testing.T) {
	h := testHome(t)
	h.Environ = []string{"PATH=" + t.TempDir()}
	var output strings.Builder
	step := Step{Doc: "install packages", Command: []string{"apt-get-that-is-not-there", "install"}, Root: true}
	_, err := installer(t, h, &output).Install(t.Context(), toolbox(h), []Step{filling(h, "a", write), step}, nil)
	if !errors.Is(err, ErrNeedsPerson) {
		t.Errorf("%v", err)
	}
	if got := files(t, h); len(got) > 0 {
		t.Errorf("begun all the same: %q", got)
	}
}

// A fake apt-get says what it is asked; the list of packages is old at first.
func TestStaleListOfPackagesIsFetched(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("needs root, or it would ask sudo")
	}
	h := testHome(t)
	bin := t.TempDir()
	script := "#!/bin/sh\ncd " + h.Dir + "\necho \"$*\" >>asked\ncase $1 in\nupdate) touch fresh;;\n*) test -e fresh || { echo 'E: Unable to locate package toolbox' >&2; exit 100; }\n" +
		"mkdir -p a b; echo yes >a/done; echo yes >b/done;;\nesac\n"
	if err := os.WriteFile(filepath.Join(bin, "apt-get"), []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	h.Environ = []string{"PATH=" + bin + ":" + os.Getenv("PATH")}
	var output strings.Builder
	before, beforeErr := os.ReadFile("/usr/sbin/policy-rc.d")
	if _, err := installer(t, h, &output).Install(t.Context(), toolbox(h), []Step{debian("toolbox")}, nil); err != nil {
		t.Fatal(err)
	}
	asked, err := os.ReadFile(h.Path("asked"))
	if err != nil {
		t.Fatal(err)
	}
	var verbs []string
	for line := range strings.Lines(string(asked)) {
		verbs = append(verbs, strings.Fields(line)[0])
	}
	if fmt.Sprint(verbs) != "[install update install]" {
		t.Errorf("asked for %q", verbs)
	}
	after, afterErr := os.ReadFile("/usr/sbin/policy-rc.d")
	if string(before) != string(after) || (beforeErr == nil) != (afterErr == nil) {
		t.Errorf("the policy for services was %q (%v), and is %q (%v)", before, beforeErr, after, afterErr)
	}
}

func TestQuietServices(t *testing.T) {
	for name, tt := range map[string]struct{ before, during, after string }{
		"no policy":           {"", "exit 101", ""},
		"a policy of others":  {"#!/bin/sh\nexit 104\n", "exit 104", "#!/bin/sh\nexit 104\n"},
		"one that we forgot":  {"#!/bin/sh\n# made by sixnines\nexit 101\n", "exit 101", ""},
		"one not to be found": {"", "exit 101", ""},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "policy-rc.d")
			if tt.before != "" {
				if err := os.WriteFile(path, []byte(tt.before), 0o755); err != nil {
					t.Fatal(err)
				}
			}
			script := strings.Replace(quietServices, "/usr/sbin/policy-rc.d", path, 1)
			for _, code := range []int{0, 7} {
				if tt.before != "" {
					os.WriteFile(path, []byte(tt.before), 0o755)
				}
				out, err := command("/bin/sh", "-c", script, "sh", "/bin/sh", "-c", fmt.Sprintf("cat %s; exit %d", path, code))
				if !strings.Contains(out, tt.during) {
					t.Errorf("meanwhile it says %q", out)
				}
				if got := exitCode(err); got != code {
					t.Errorf("exit code %d, want %d", got, code)
				}
				after, _ := os.ReadFile(path) // absent is empty
				if string(after) != tt.after {
					t.Errorf("afterwards it is %q, want %q", after, tt.after)
				}
			}
		})
	}
}

func TestPlainWriter(t *testing.T) {
	var b strings.Builder
	w := plainWriter{to: &b}
	for _, part := range []string{"a\x1b[", "0;1mb\x1b", "[0m\x1b[0m", "c\n\x1bZd"} {
		if n, err := w.Write([]byte(part)); n != len(part) || err != nil {
			t.Errorf("%d, %v", n, err)
		}
	}
	if b.String() != "abc\nd" {
		t.Errorf("%q", b.String())
	}
}

// A person can paste the steps that are shown.
func TestScriptOfSteps(t *testing.T) {
	h := testHome(t)
	steps := []Step{filling(h, "a", write), filling(h, "b", `test "$WHAT" = 'it'"'"'s 7' && `+write)}
	steps[1].Env = []string{"WHAT=it's 7"}
	script := strings.Join(Script(steps), "\n")
	if out, err := command("/bin/sh", "-e", "-c", script); err != nil {
		t.Fatalf("%v: %s\n%s", err, out, script)
	}
	if _, err := toolbox(h).Find(t.Context(), h); err != nil {
		t.Errorf("%v\n%s", err, script)
	}
	root := Script([]Step{debian("redis-server")})
	if want := "sudo DEBIAN_FRONTEND=noninteractive apt-get install"; len(root) != 2 || !strings.HasPrefix(root[1], want) {
		t.Errorf("%q", root)
	}
}

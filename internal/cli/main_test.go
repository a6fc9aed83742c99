package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"sixnines/driver"
	"sixnines/drivers/all"
	"sixnines/drivers/nats"
	"sixnines/internal/engine"
	"sixnines/result"
	"sixnines/scenario"
)

// everything is a terminal of 100 columns.
func everything(io.Writer) (int, bool) { return 100, true }

// invoke runs the command line in this process.
func invoke(t *testing.T, env Env, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	env.Args, env.Stdout, env.Stderr, env.Tool = args, &out, &errs, BuiltTool()
	if env.Stdin == nil {
		env.Stdin = strings.NewReader("")
	}
	if len(env.Drivers.Names()) == 0 {
		env.Drivers = all.Set()
	}
	code = Main(t.Context(), env)
	return code, out.String(), errs.String()
}

// TestNoArgumentsAreNotTheProcess: cobra falls back to the process's own
// arguments where it gets none.
func TestNoArgumentsAreNotTheProcess(t *testing.T) {
	code, out, _ := invoke(t, Env{})
	if code != exitOK || !strings.Contains(out, "Usage:") {
		t.Errorf("exit code %d, stdout %q", code, out)
	}
}

// TestDir runs a measurement elsewhere than in the process's directory.
func TestDir(t *testing.T) {
	dir := t.TempDir()
	code, out, errs := invoke(t, Env{Dir: dir}, "run", "mem", "--duration", "100ms", "--warmup", "0s", "--rate", "100/s", "--json")
	if code != exitOK && code != exitInvalid {
		t.Fatalf("exit code %d: %s", code, errs)
	}
	found, err := filepath.Glob(filepath.Join(dir, "results", "mem-deliver-*.jsonl"))
	if err != nil || len(found) != 1 {
		t.Fatalf("%q, %v", found, err)
	}
	rel, err := filepath.Rel(dir, found[0])
	if err != nil || !strings.Contains(out, `"result":"`+filepath.ToSlash(rel)+`"`) {
		t.Errorf("the path is not told as the user would write it: %v, %s", err, out)
	}
	if code, _, errs := invoke(t, Env{Dir: dir}, "verify", rel); code != exitOK {
		t.Errorf("verify: exit code %d: %s", code, errs)
	}
}

func TestVerdictCodes(t *testing.T) {
	for s, want := range map[result.Status]int{result.Valid: exitOK, result.Suspect: exitOK, result.Unstable: exitInvalid, result.Invalid: exitInvalid} {
		a := &app{Env: Env{Stderr: io.Discard}}
		if got := a.explain(nil, (passing{}).judged(&result.Run{Summary: &result.Summary{Verdict: result.Verdict{Status: s}}})); got != want {
			t.Errorf("%s: exit code %d, want %d", s, got, want)
		}
	}
	if err := (passing{}).judged(&result.Run{}); err != nil {
		t.Errorf("a run without a summary: %v", err)
	}
}

// TestHints demands a hint of its own for each class of errors.
func TestHints(t *testing.T) {
	entry := nats.Entry()
	for _, c := range []struct {
		err     error
		managed bool
		code    int
		want    string
	}{
		{driver.ErrNotConnected, false, exitFailure, "--url"},
		{driver.ErrNotConnected, true, exitFailure, "try again"},
		{fmt.Errorf("%w: %w", driver.ErrNotConnected, io.EOF), false, exitFailure, "--tls-ca"},
		{fmt.Errorf("%w: %w", driver.ErrNotConnected, syscall.ECONNREFUSED), false, exitFailure, "starts a broker itself"},
		{&driver.AdvertisedError{Setting: "advertised.listeners"}, false, exitFailure, "set the broker's advertised.listeners"},
		{driver.ErrUnauthorized, false, exitFailure, "--option token=env:NAME"},
		{driver.ErrTooLarge, false, exitFailure, "--size"},
		{driver.ErrUnsupported, false, exitFailure, "drivers show nats"},
		{driver.ErrThrottled, false, exitFailure, "--rate"},
		{driver.ErrNoTopic, false, exitFailure, "topic"},
		{driver.ErrOption, false, exitUsage, "drivers show nats"},
		{driver.ErrTimeout, false, exitFailure, "did not answer"},
		{context.DeadlineExceeded, false, exitFailure, "did not answer"},
		{engine.ErrUsage, false, exitUsage, "scenario"},
		{engine.ErrAborted, false, exitFailure, "a single Ctrl-C"},
		{os.ErrExist, false, exitFailure, "never overwritten"},
		{os.ErrPermission, false, exitFailure, "--out"},
		{syscall.ENOSPC, false, exitFailure, "free some disk space"},
		{errors.New("something else"), false, exitFailure, "doctor"},
	} {
		var f *fault
		if !errors.As(runFault(c.err, &scenario.Scenario{}, entry, c.managed), &f) {
			t.Fatalf("%v: no fault", c.err)
		}
		if f.code != c.code || !strings.Contains(f.hint, c.want) {
			t.Errorf("%v: exit code %d, hint %q; want %d, %q", c.err, f.code, f.hint, c.code, c.want)
		}
	}
}

// TestNeedsURL: a broker that cannot be started here needs an address.
func TestNeedsURL(t *testing.T) {
	entry := nats.Entry()
	entry.Name, entry.DefaultURL = "remote", "remote://127.0.0.1:1"
	code, _, errs := invoke(t, Env{Drivers: driver.NewSet(entry)}, "run", "remote")
	if code != exitUsage || !strings.Contains(errs, "--url remote://127.0.0.1:1") {
		t.Errorf("exit code %d: %s", code, errs)
	}
}

// TestThirdSignal: whoever presses Ctrl-C three times is let go, whatever the
// engine does.
func TestThirdSignal(t *testing.T) {
	signals := make(chan os.Signal, 3)
	a := &app{Env: Env{Signals: func() (<-chan os.Signal, func()) { return signals, func() {} }}}
	said := make(chan string, 3)
	i := a.interrupts(t.Context(), func(s string) { said <- s })
	i.observe(measuring())
	signals <- os.Interrupt
	<-i.early.Done()
	signals <- syscall.SIGTERM
	<-i.abort
	signals <- os.Interrupt
	<-i.giveUp
	i.stop()
	for _, want := range []string{"Ctrl-C: ", "signal terminated again", "Ctrl-C once more"} {
		if got := <-said; !strings.HasPrefix(got, want) {
			t.Errorf("said %q, want %q", got, want)
		}
	}
}

// TestSignalInVain: before the window one Ctrl-C is enough.
func TestSignalInVain(t *testing.T) {
	signals := make(chan os.Signal, 3)
	a := &app{Env: Env{Signals: func() (<-chan os.Signal, func()) { return signals, func() {} }}}
	i := a.interrupts(t.Context(), func(string) {})
	i.observe(engine.Progress{Phase: phaseConnect})
	i.observe(engine.Progress{Phase: phaseWarmup})
	signals <- os.Interrupt
	<-i.early.Done()
	<-i.abort
	signals <- os.Interrupt
	signals <- os.Interrupt
	<-i.giveUp
	i.stop()
	if !i.vain.Load() {
		t.Error("not in vain")
	}
}

func TestWriteNew(t *testing.T) {
	a := &app{Env: Env{Dir: t.TempDir()}}
	write := func(text string, err error) func(io.Writer) error {
		return func(w io.Writer) error {
			io.WriteString(w, text)
			return err
		}
	}
	read := func() string {
		text, _ := os.ReadFile(filepath.Join(a.Dir, "f"))
		return string(text)
	}
	if err := a.writeNew("f", false, write("one", nil)); err != nil || read() != "one" {
		t.Errorf("%v, %q", err, read())
	}
	if err := a.writeNew("f", false, write("two", nil)); !errors.Is(err, os.ErrExist) || read() != "one" {
		t.Errorf("%v, %q", err, read())
	}
	broken := errors.New("broken")
	if err := a.writeNew("f", true, write("half", broken)); !errors.Is(err, broken) || read() != "one" {
		t.Errorf("%v, %q", err, read())
	}
	if err := a.writeNew("f", true, write("three", nil)); err != nil || read() != "three" {
		t.Errorf("%v, %q", err, read())
	}
}

func TestASCII(t *testing.T) {
	for environ, want := range map[string]bool{"": false, "LANG=C": true, "LANG=en_GB.UTF-8": false, "LANG=en_GB.UTF-8 LC_ALL=POSIX": true, "LC_CTYPE=C.utf8": false} {
		a := &app{Env: Env{Environ: strings.Fields(environ)}}
		if got := a.ascii(); got != want {
			t.Errorf("%q: %v", environ, got)
		}
	}
}

// TestPlanIsWhatHappens compares the deliveries that a plan promises with those
// that the engine expects.
func TestPlanIsWhatHappens(t *testing.T) {
	for _, shape := range []string{
		"", "--producers 3", "--consumers 3", "--producers 2 --topics 2 --consumers 4", "--topics 3 --consumers 2 --producers 3",
		"--consumers 4 --groups 2", "--pattern roundtrip --producers 3", "--pattern request-reply --consumers 2 --producers 2", "--pattern publish",
		"--arrivals poisson --rate 300/s", "--arrivals burst:10@25ms",
	} {
		args := append([]string{"run", "mem", "--duration", "100ms", "--warmup", "0s", "--json", "--quiet"}, strings.Fields(shape)...)
		env := Env{Dir: t.TempDir()}
		var planned struct{ Plan plan }
		code, out, errs := invoke(t, env, append(args, "--dry-run")...)
		if code != exitOK {
			t.Fatalf("%q: %s", shape, errs)
		}
		if err := json.Unmarshal([]byte(out), &planned); err != nil {
			t.Fatal(err)
		}
		var happened struct{ Counters result.Counters }
		if code, out, errs = invoke(t, env, args...); code != exitOK && code != exitInvalid {
			t.Fatalf("%q: exit code %d: %s", shape, code, errs)
		}
		if err := json.Unmarshal([]byte(out), &happened); err != nil {
			t.Fatal(err)
		}
		p, c := planned.Plan, happened.Counters
		if !p.Exact {
			continue // the mean of a random number
		}
		if p.Messages != c.Scheduled || c.Sent == c.Scheduled && p.Deliveries != c.Expected {
			t.Errorf("%q: planned %d messages and %d deliveries, the engine expects %d and %d", shape, p.Messages, p.Deliveries, c.Scheduled, c.Expected)
		}
	}
}

func TestOneLine(t *testing.T) {
	if got, want := oneLine("é\x1b[31m\ta\r\n\nb\u009b2J"), "é [31m a; b 2J"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

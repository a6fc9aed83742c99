//go:build unix

package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/rogpeppe/go-internal/testscript"

	"sixnines/drivers/all"
	"sixnines/internal/brokers"
	"sixnines/internal/brokers/brokertest"
)

func TestMain(m *testing.M) {
	// A process inherits which signals are ignored, and SIGHUP is under nohup;
	// one that is listened to is its default again in those that are started.
	if filepath.Base(os.Args[0]) != "sixnines" && signal.Ignored(syscall.SIGHUP) {
		signal.Notify(make(chan os.Signal, 1), syscall.SIGHUP)
	}
	testscript.Main(m, map[string]func(){"sixnines": func() { os.Exit(Main(context.Background(), processEnv())) }})
}

// processEnv is the environment of a process, as cmd/sixnines makes it.
func processEnv() Env {
	executable, err := os.Executable()
	if err != nil {
		panic(err)
	}
	return Env{
		Args: os.Args[1:], Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr,
		Environ: os.Environ(), Executable: executable, Drivers: all.Set(), Tool: BuiltTool(),
		Signals: Signals,
	}
}

// TestScripts runs the files of testdata/script, one for each behaviour, each
// in a directory of its own.
func TestScripts(t *testing.T) {
	params := testscript.Params{
		Dir:             "testdata/script",
		UpdateScripts:   os.Getenv("UPDATE_SCRIPTS") != "",
		ContinueOnError: true,
		Setup:           setUp,
		Condition:       condition,
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			"usage":       cmdUsage,
			"conforms":    cmdConforms,
			"await":       cmdAwait,
			"watch":       cmdWatch,
			"jsonpath":    cmdJSONPath,
			"copyone":     cmdCopyOne,
			"tamper":      cmdTamper,
			"gone":        cmdGone,
			"nocolour":    cmdNoColour,
			"truncated":   cmdTruncated,
			"measure":     cmdMeasure,
			"measure-any": cmdMeasureAny,
			"exitcode":    cmdExitCode,
			"gate":        cmdGate,
			"count":       cmdCount,
			"overlap":     cmdOverlap,
			"slay":        cmdSlay,
			"slay-node":   cmdSlayNode,
			"mute":        cmdMute,
			"guarded":     cmdGuarded,
			"secured":     cmdSecured,
			"squat":       cmdSquat,
			"tried":       cmdTried,
			"unplugged":   cmdUnplugged,
			"plane":       cmdPlane,
			"join":        cmdJoin,
			"muster":      cmdMuster,
			"propose":     cmdPropose,
		},
	}
	if testing.Short() { // those in which most happens at a time, for the race detector
		params.Dir = ""
		for _, name := range []string{"broker_updown", "failed_run", "interrupt", "interrupt_early", "interrupt_twice", "managed_run", "repeat_interrupt", "run_default"} {
			params.Files = append(params.Files, filepath.Join("testdata", "script", name+".txt"))
		}
	}
	testscript.Run(t, params)
}

// setUp gives each script a home of its own for brokers, of which none stays,
// and says where the program lies without the rest of PATH, and where the examples
// are.
func setUp(env *testscript.Env) error {
	home := brokers.Home{Dir: filepath.Join(env.WorkDir, "home"), Environ: env.Vars}
	examples, err := filepath.Abs(examplesDir)
	if err != nil {
		return err
	}
	installed, err := brokers.DefaultDir(os.Environ())
	if err != nil {
		return err
	}
	env.Vars = append(env.Vars, "BROKERS="+installed, brokers.HomeVariable+"="+home.Dir, "ALONE="+filepath.SplitList(env.Getenv("PATH"))[0], "EXAMPLES="+examples)
	env.Defer(func() {
		states, err := brokers.States(home)
		for _, s := range states {
			_, stopping := brokers.Down(context.Background(), home, s.Product, false)
			err = errors.Join(err, stopping)
		}
		if err != nil {
			panic(err) // a broker that stays would spoil what comes after
		}
	})
	return nil
}

// condition knows [redis] and [rabbitmq], which are errors where brokers are required and they
// are not here, [kafka], which is below the home of the machine, $BROKERS, [root] and [namespaces].
func condition(name string) (bool, error) {
	switch name {
	case "root":
		return os.Geteuid() == 0, nil
	case "namespaces":
		return namespaces()
	case "redis", "rabbitmq", "kafka":
		p, _ := brokers.Lookup(name)
		dir, err := brokers.DefaultDir(os.Environ())
		if err == nil {
			_, err = p.Find(context.Background(), brokers.Home{Dir: dir, Environ: os.Environ()})
		}
		if err != nil && os.Getenv(brokertest.Required) != "" {
			return false, fmt.Errorf("%w (%s is set)", err, brokertest.Required)
		}
		return err == nil, nil
	}
	return false, fmt.Errorf("there is no condition %q", name)
}

// cmdSquat: squat takes a port of loopback, $PORT; squat free only finds one.
func cmdSquat(ts *testscript.TestScript, _ bool, args []string) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	for i := 0; len(args) > 0 && i < 100; i++ { // not one that the kernel gives to connections
		if err == nil {
			l.Close()
		}
		if l, err = net.Listen("tcp", fmt.Sprint("127.0.0.1:", 9000+rand.IntN(1000))); err == nil {
			break
		}
	}
	ts.Check(err)
	if len(args) > 0 {
		l.Close()
	} else {
		ts.Defer(func() { l.Close() })
	}
	ts.Setenv("PORT", strconv.Itoa(l.Addr().(*net.TCPAddr).Port))
}

// patience is how long a script waits for something that must happen.
const patience = 60 * time.Second

// cmdUsage: usage WORD… runs sixnines in this process with these arguments and
// demands what every wrong invocation must give: exit code 2, nothing on
// stdout, and on stderr one cause (scenario errors: one a line) and one hint.
func cmdUsage(ts *testscript.TestScript, neg bool, args []string) {
	var out, errs bytes.Buffer
	code := Main(context.Background(), Env{Args: args, Stdin: strings.NewReader(""), Stdout: &out, Stderr: &errs,
		Dir: ts.Getenv("WORK"), Executable: "/nowhere", Drivers: all.Set(), Tool: BuiltTool()})
	lines := strings.Split(strings.TrimSuffix(errs.String(), "\n"), "\n")
	last := lines[len(lines)-1]
	switch {
	case neg:
		ts.Fatalf("usage cannot be negated")
	case code != exitUsage:
		ts.Fatalf("%q: exit code %d, want %d\n%s", args, code, exitUsage, errs.String())
	case out.Len() > 0:
		ts.Fatalf("%q: printed on stdout: %s", args, out.String())
	case len(lines) != 2:
		ts.Fatalf("%q: want a cause and a hint, got\n%s", args, errs.String())
	case !strings.HasPrefix(last, "hint: ") || len(last) < 12:
		ts.Fatalf("%q: the last line is no hint: %s", args, last)
	}
	fmt.Fprintf(ts.Stderr(), "%s\n%s\n", lines[0], last)
}

// cmdAwait: await GLOB TEXT [TIMES] waits until a file that matches has TEXT so
// many times, once by default. Of records only whole lines count: one that is still
// being written is gone if its writer is killed.
func cmdAwait(ts *testscript.TestScript, _ bool, args []string) {
	times := 1
	if len(args) > 2 {
		times, _ = strconv.Atoi(args[2])
	}
	deadline := time.Now().Add(patience)
	for {
		matches, err := filepath.Glob(ts.MkAbs(args[0]))
		ts.Check(err)
		for _, m := range matches {
			text, err := os.ReadFile(m)
			if err == nil && filepath.Ext(m) == ".jsonl" {
				text = text[:bytes.LastIndexByte(text, '\n')+1]
			}
			if err == nil && strings.Count(string(text), args[1]) >= times {
				return
			}
		}
		if time.Now().After(deadline) {
			ts.Fatalf("%q has not come %d times in %s", args[1], times, args[0])
		}
		time.Sleep(5 * time.Millisecond) // between looks: there is nothing else to wait on
	}
}

// cmdJSONPath: jsonpath FILE PATH [WANT] demands that the JSON object in FILE
// has PATH (keys separated by /), and that its value as JSON matches the regular
// expression WANT.
func cmdJSONPath(ts *testscript.TestScript, neg bool, args []string) {
	var v any
	ts.Check(json.Unmarshal([]byte(ts.ReadFile(args[0])), &v))
	for _, key := range strings.Split(args[1], "/") {
		switch at := v.(type) {
		case map[string]any:
			next, ok := at[key]
			if !ok {
				if neg {
					return
				}
				ts.Fatalf("no %q on the way to %s in %v", key, args[1], at)
			}
			v = next
		case []any:
			i, err := strconv.Atoi(key)
			if err != nil || i >= len(at) {
				ts.Fatalf("no element %q on the way to %s", key, args[1])
			}
			v = at[i]
		default:
			ts.Fatalf("%v has nothing below it on the way to %s", at, args[1])
		}
	}
	text, err := json.Marshal(v)
	ts.Check(err)
	if len(args) > 2 {
		ok, err := regexp.Match("^(?:"+args[2]+")$", text)
		ts.Check(err)
		if ok == neg {
			ts.Fatalf("%s is %s, want %s", args[1], text, args[2])
		}
	} else if neg {
		ts.Fatalf("%s is there: %s", args[1], text)
	}
}

// cmdCopyOne: copyone GLOB FILE copies the only file that matches.
func cmdCopyOne(ts *testscript.TestScript, _ bool, args []string) {
	matches, err := filepath.Glob(ts.MkAbs(args[0]))
	ts.Check(err)
	if len(matches) != 1 {
		ts.Fatalf("%s matches %d files, not one: %q", args[0], len(matches), matches)
	}
	text, err := os.ReadFile(matches[0])
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), text, 0o644))
}

// cmdTamper: tamper GLOB BEFORE changes the first digit after the last BEFORE
// in the one file that matches.
func cmdTamper(ts *testscript.TestScript, _ bool, args []string) {
	matches, err := filepath.Glob(ts.MkAbs(args[0]))
	ts.Check(err)
	if len(matches) != 1 {
		ts.Fatalf("%s matches %d files, not one: %q", args[0], len(matches), matches)
	}
	text, err := os.ReadFile(matches[0])
	ts.Check(err)
	i := bytes.LastIndex(text, []byte(args[1]))
	if i < 0 {
		ts.Fatalf("no %q in %s", args[1], args[0])
	}
	for i += len(args[1]); i < len(text); i++ {
		if c := text[i]; c >= '0' && c <= '9' {
			text[i] = '0' + (c-'0'+1)%10
			if text[i] == '0' {
				text[i] = '1' // a number does not begin with it
			}
			ts.Check(os.WriteFile(matches[0], text, 0o644))
			return
		}
	}
	ts.Fatalf("no digit after %q", args[1])
}

// run runs sixnines and returns its exit code.
func run(ts *testscript.TestScript, args []string) int {
	err := ts.Exec("sixnines", args...)
	var exit *exec.ExitError
	switch {
	case err == nil:
		return exitOK
	case errors.As(err, &exit):
		return exit.ExitCode()
	}
	ts.Fatalf("sixnines: %v", err)
	return 0
}

// cmdMeasure: measure ARG… runs a measurement, whose verdict depends on the
// machine: 0 and 4 are both good exit codes.
func cmdMeasure(ts *testscript.TestScript, _ bool, args []string) {
	if code := run(ts, append([]string{"run"}, args...)); code != exitOK && code != exitInvalid {
		ts.Fatalf("exit code %d", code)
	}
}

// cmdMeasureAny: measure-any ARG… runs a command that judges the machine: 0 and
// 1 are both good exit codes.
func cmdMeasureAny(ts *testscript.TestScript, _ bool, args []string) {
	if code := run(ts, args); code != exitOK && code != exitFailure {
		ts.Fatalf("exit code %d", code)
	}
}

// cmdExitCode: exitcode CODE ARG… demands an exit code.
func cmdExitCode(ts *testscript.TestScript, _ bool, args []string) {
	if code := strconv.Itoa(run(ts, args[1:])); code != args[0] {
		ts.Fatalf("exit code %s, want %s", code, args[0])
	}
}

// cmdGate: gate CODE ARG… demands the exit code that objectives lead to, or 4,
// which comes before it where the machine did not let the run be.
func cmdGate(ts *testscript.TestScript, _ bool, args []string) {
	if code := strconv.Itoa(run(ts, args[1:])); code != args[0] && code != strconv.Itoa(exitInvalid) {
		ts.Fatalf("exit code %s, want %s", code, args[0])
	}
}

// cmdCount: count N GLOB demands that N files match.
func cmdCount(ts *testscript.TestScript, _ bool, args []string) {
	matches, err := filepath.Glob(ts.MkAbs(args[1]))
	ts.Check(err)
	if strconv.Itoa(len(matches)) != args[0] {
		ts.Fatalf("%s matches %q, want %s", args[1], matches, args[0])
	}
}

// processIn returns the process that FILE names after "(process ", or as the
// first "pid" of an object.
func processIn(ts *testscript.TestScript, file string) int {
	found := regexp.MustCompile(`(?:\(process |"pid": ?)(\d+)`).FindStringSubmatch(ts.ReadFile(file))
	if found == nil {
		ts.Fatalf("%s names no process", file)
	}
	pid, err := strconv.Atoi(found[1])
	ts.Check(err)
	return pid
}

// cmdSlay: slay FILE kills the process that FILE names.
func cmdSlay(ts *testscript.TestScript, _ bool, args []string) {
	ts.Check(syscall.Kill(processIn(ts, args[0]), syscall.SIGKILL))
}

// cmdSlayNode: slay-node FILE kills the last of the processes that FILE names.
func cmdSlayNode(ts *testscript.TestScript, _ bool, args []string) {
	found := regexp.MustCompile(`processes [\d ]* (\d+)\)`).FindStringSubmatch(ts.ReadFile(args[0]))
	if found == nil {
		ts.Fatalf("%s names no processes", args[0])
	}
	pid, err := strconv.Atoi(found[1])
	ts.Check(err)
	ts.Check(syscall.Kill(pid, syscall.SIGKILL))
}

// cmdMute: mute makes a listener that says nothing, at $MUTE.
func cmdMute(ts *testscript.TestScript, _ bool, _ []string) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	ts.Check(err)
	ts.Defer(func() { l.Close() })
	ts.Setenv("MUTE", l.Addr().String())
}

// cmdGuarded: guarded USER PASSWORD starts a NATS server that wants both, at
// $GUARDED.
func cmdGuarded(ts *testscript.TestScript, _ bool, args []string) {
	s, err := server.NewServer(&server.Options{Host: "127.0.0.1", Port: server.RANDOM_PORT, NoSigs: true, NoLog: true,
		Username: args[0], Password: args[1]})
	ts.Check(err)
	s.Start()
	ts.Defer(func() { s.Shutdown(); s.WaitForShutdown() })
	if !s.ReadyForConnections(patience) {
		ts.Fatalf("the server does not listen")
	}
	ts.Setenv("GUARDED", s.Addr().String())
}

// cmdGone: gone FILE waits until the process that FILE names is no more.
func cmdGone(ts *testscript.TestScript, _ bool, args []string) {
	pid := processIn(ts, args[0])
	deadline := time.Now().Add(patience)
	for syscall.Kill(pid, 0) == nil && !zombie(pid) {
		if time.Now().After(deadline) {
			ts.Fatalf("process %d is still there", pid)
		}
		time.Sleep(5 * time.Millisecond) // between looks
	}
}

// zombie reports whether a process has ended and only waits for its parent, or
// whoever took its place, to take note.
func zombie(pid int) bool {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return true
	}
	_, after, _ := bytes.Cut(text, []byte(") "))
	return bytes.HasPrefix(after, []byte("Z"))
}

// cmdNoColour: nocolour FILE demands that a file has no escape sequences.
func cmdNoColour(ts *testscript.TestScript, _ bool, args []string) {
	if strings.ContainsRune(ts.ReadFile(args[0]), 0x1b) {
		ts.Fatalf("%s holds escape sequences", args[0])
	}
}

// cmdTruncated: truncated FROM TO COUNT copies the first COUNT lines of FROM
// and half of the next one.
func cmdTruncated(ts *testscript.TestScript, _ bool, args []string) {
	count, err := strconv.Atoi(args[2])
	ts.Check(err)
	lines := strings.SplitAfter(ts.ReadFile(args[0]), "\n")
	if len(lines) <= count {
		ts.Fatalf("%s has only %d lines", args[0], len(lines))
	}
	text := strings.Join(lines[:count], "") + lines[count][:len(lines[count])/2]
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), []byte(text), 0o644))
}

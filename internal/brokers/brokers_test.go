package brokers

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
)

// role names the environment variable that makes the test binary something
// else than a test.
const role = "SIXNINES_TEST_ROLE"

// patience limits every wait for something that happens at once on a machine
// that is not overloaded.
const patience = 30 * time.Second

func TestMain(m *testing.M) {
	switch os.Getenv(role) {
	case "":
		code := m.Run()
		if left := children(); left != "" {
			fmt.Fprintf(os.Stderr, "the tests leave processes behind: %s\n", left)
			code = 1
		}
		os.Exit(code)
	case "nats":
		os.Exit(Serve(os.Stdin, os.Stdout, os.Stderr, os.Args[1:]))
	case "parent", "parent of a frozen one":
		os.Exit(parent())
	case "mute":
		io.Copy(io.Discard, os.Stdin)
	case "deaf":
		deaf()
	case "stubborn", "stubborn, in a hurry":
		fmt.Println(`{"url":"stub://","version":"1"}`)
		deaf()
	case "babbling":
		fmt.Println("usage: " + strings.Repeat("babble ", 2*maxReadyLine))
		io.Copy(io.Discard, os.Stdin)
	case "nowhere":
		fmt.Println("{}")
	case "failing":
		fmt.Fprintln(os.Stderr, "no room at the inn")
		os.Exit(7)
	case "ending":
		fmt.Println(`{"url":"stub://","version":"1"}`)
		fmt.Fprintln(os.Stderr, "that was all")
		os.Exit(3)
	}
}

// deaf ends by nothing that can be ignored, though not never: should a test
// forget it.
func deaf() {
	signal.Ignore(os.Interrupt, syscall.SIGTERM)
	time.Sleep(time.Hour)
}

// parent starts a broker, tells its number and address and waits to be killed.
func parent() int {
	i, err := StartNATS(context.Background(), options("nats"))
	if err == nil && os.Getenv(role) != "parent" {
		err = i.Freeze()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	fmt.Println(i.PID, i.URL)
	select {}
}

func options(as string) NATSOptions {
	return NATSOptions{
		Command: []string{os.Args[0]},
		// The race detector waits a second before a process ends.
		Env:    append(os.Environ(), role+"="+as, "GORACE=atexit_sleep_ms=0"),
		Stderr: os.Stderr,
	}
}

func startNATS(t *testing.T) *Instance {
	t.Helper()
	i, err := StartNATS(t.Context(), options("nats"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := i.Stop(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return i
}

// echo sends a message of the size through the broker and back.
func echo(t *testing.T, i *Instance, size int) {
	t.Helper()
	nc, err := nats.Connect(i.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	sub, err := nc.SubscribeSync("echo")
	if err != nil {
		t.Fatal(err)
	}
	if err := nc.Publish("echo", make([]byte, size)); err != nil {
		t.Fatal(err)
	}
	m, err := sub.NextMsg(patience)
	if err != nil {
		t.Fatal(err)
	}
	if len(m.Data) != size {
		t.Fatalf("sent %d bytes, %d came back", size, len(m.Data))
	}
}

func waitDone(t *testing.T, i *Instance) {
	t.Helper()
	select {
	case <-i.Done():
	case <-time.After(patience):
		t.Fatal("the broker does not end")
	}
}

func TestNATSStartsAndStops(t *testing.T) {
	i := startNATS(t)
	if i.Name != "nats-server" || i.Version == "" || i.PID <= 0 || i.PID == os.Getpid() || i.Processors < 1 {
		t.Errorf("reported as %+v", i)
	}
	u, err := url.Parse(i.URL)
	if err != nil {
		t.Fatal(err)
	}
	if ip := net.ParseIP(u.Hostname()); !ip.IsLoopback() {
		t.Errorf("it listens at %s, not on loopback", i.URL)
	}
	echo(t, i, 1<<20)
	if err := i.Err(); err != nil {
		t.Errorf("while running: %v", err)
	}
	for range 2 {
		if err := i.Stop(t.Context()); err != nil {
			t.Fatal(err)
		}
		select {
		case <-i.Done():
		default:
			t.Fatal("stopped but not done")
		}
	}
	if err := i.Err(); err != nil {
		t.Errorf("after Stop: %v", err)
	}
	if i.status != nil {
		t.Errorf("asked to end by its input, it ended with %v", i.status)
	}
	if c, err := net.Dial("tcp", u.Host); err == nil {
		c.Close()
		t.Error("somebody still listens")
	}
}

func TestNATSMaxPayload(t *testing.T) {
	for _, size := range []int{1, 100, DefaultMaxPayload, 65 << 20} {
		o := options("nats")
		o.Stderr = nil // it finds large ones unwise
		o.MaxPayload = size
		i, err := StartNATS(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		nc, err := nats.Connect(i.URL)
		if err != nil {
			t.Fatal(err)
		}
		if got := nc.MaxPayload(); got != int64(size) {
			t.Errorf("asked for %d bytes, got %d", size, got)
		}
		nc.Close()
		if err := i.Stop(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	for _, size := range []int{-1, 1 << 31} {
		o := options("nats")
		o.MaxPayload = size
		if i, err := StartNATS(t.Context(), o); err == nil {
			i.Stop(t.Context())
			t.Errorf("%d bytes are accepted", size)
		}
	}
}

func TestServeNATSRefusesArguments(t *testing.T) {
	for _, args := range [][]string{{"extra"}, {"-max-payload", "0"}, {"-max-payload", "x"}, {"-unknown"}} {
		var stdout, stderr strings.Builder
		if code := ServeNATS(strings.NewReader(""), &stdout, &stderr, args); code != 2 {
			t.Errorf("%q: exit code %d", args, code)
		}
		if stdout.Len() > 0 || stderr.Len() == 0 {
			t.Errorf("%q: says %q on standard output and %q on standard error", args, &stdout, &stderr)
		}
	}
}

func TestServeNATSEndsWithItsInput(t *testing.T) {
	var stdout, stderr strings.Builder
	if code := ServeNATS(strings.NewReader(""), &stdout, &stderr, nil); code != 0 {
		t.Errorf("exit code %d: %s", code, &stderr)
	}
	if a := parseReady([]byte(stdout.String()), nil); a.err != nil || a.ready.Version == "" || a.ready.Processors < 1 {
		t.Errorf("it said %q: %v", &stdout, a.err)
	}
}

func TestTwoAtOnce(t *testing.T) {
	a, b := startNATS(t), startNATS(t)
	if a.URL == b.URL || a.PID == b.PID {
		t.Fatalf("both are %s, process %d", a.URL, a.PID)
	}
	echo(t, a, 32)
	echo(t, b, 32)
	if err := a.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	echo(t, b, 32)
}

func TestStartThatCannotSucceed(t *testing.T) {
	tests := []struct{ as, want string }{
		{"babbling", "output begins with"},
		{"nowhere", "no url"},
		{"failing", "no room at the inn"},
		{"no role of ours", "ended before"},
	}
	for _, test := range tests {
		t.Run(test.as, func(t *testing.T) {
			o := options(test.as)
			o.Stderr = nil
			i, err := StartNATS(t.Context(), o)
			if err == nil {
				i.Stop(t.Context())
				t.Fatal("it started")
			}
			if !strings.Contains(err.Error(), test.want) {
				t.Errorf("%v does not say %q", err, test.want)
			}
		})
	}
	if _, err := StartNATS(t.Context(), NATSOptions{}); err == nil {
		t.Error("started without a command")
	}
	if _, err := StartNATS(t.Context(), NATSOptions{Command: []string{t.TempDir() + "/absent"}}); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("an absent program: %v", err)
	}
}

func TestStartCancelled(t *testing.T) {
	why := errors.New("changed my mind")
	for _, as := range []string{"mute", "deaf"} {
		ctx, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(10*time.Millisecond, func() { cancel(why) })
		if _, err := StartNATS(ctx, options(as)); !errors.Is(err, why) {
			t.Errorf("%s: %v", as, err)
		}
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(why)
	if _, err := StartNATS(ctx, options("nats")); !errors.Is(err, why) {
		t.Errorf("cancelled before: %v", err)
	}
	if left := children(); left != "" {
		t.Errorf("left behind: %s", left)
	}
}

func TestContextOfStartDoesNotLimitTheInstance(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	i, err := StartNATS(ctx, options("nats"))
	if err != nil {
		t.Fatal(err)
	}
	cancel()
	echo(t, i, 32)
	if err := i.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func TestStopInsists(t *testing.T) {
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	for as, ctx := range map[string]context.Context{"stubborn": t.Context(), "stubborn, in a hurry": cancelled} {
		i, err := StartNATS(t.Context(), options(as))
		if err != nil {
			t.Fatal(err)
		}
		if err := i.Stop(ctx); err != nil {
			t.Fatal(err)
		}
		waitDone(t, i)
	}
}

func TestEndByItself(t *testing.T) {
	o := options("ending")
	o.Stderr = nil
	i, err := StartNATS(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	waitDone(t, i)
	if err := i.Err(); err == nil || !strings.Contains(err.Error(), "exit status 3") || !strings.Contains(err.Error(), "that was all") {
		t.Errorf("it ended with %v", err)
	}
	if _, err := i.Usage(); err == nil {
		t.Error("a process that is gone has no usage")
	}
	if err := i.Stop(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestTail(t *testing.T) {
	var all strings.Builder
	w := tail{forward: &all}
	for n := range 2 * tailSize {
		fmt.Fprintln(&w, n)
	}
	got := w.String()
	if len(got) > tailSize || !strings.HasSuffix(all.String(), got+"\n") || len(got) < tailSize-10 {
		t.Errorf("kept %d bytes: %q", len(got), got)
	}
}

func FuzzParseReady(f *testing.F) {
	f.Add([]byte(`{"url":"nats://127.0.0.1:4222","version":"2.15.2","gomaxprocs":2}` + "\n"))
	f.Add([]byte("usage: sixnines\n"))
	f.Add([]byte("{}\n"))
	f.Fuzz(func(t *testing.T, line []byte) {
		a := parseReady(line, nil)
		if (a.err == nil) != (a.ready.URL != "") || a.err != nil && a.line != string(line) {
			t.Errorf("%q: %+v", line, a)
		}
	})
}

// startParent starts a process that starts a broker, and returns it with the
// broker's number and address.
func startParent(t *testing.T, as string) (*exec.Cmd, int, string) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), role+"="+as)
	cmd.Stderr = os.Stderr
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
	line, err := bufio.NewReader(stdout).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	var pid int
	var at string
	if _, err := fmt.Sscan(line, &pid, &at); err != nil {
		t.Fatalf("%q: %v", line, err)
	}
	u, err := url.Parse(at)
	if err != nil {
		t.Fatal(err)
	}
	return cmd, pid, u.Host
}

// killed kills a parent, with whom the broker pid must end. The kernel answers
// at the address for one that is frozen.
func killed(t *testing.T, cmd *exec.Cmd, pid int, address string) {
	t.Helper()
	c, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	cmd.Wait()
	c.SetReadDeadline(time.Now().Add(patience))
	if _, err := io.Copy(io.Discard, c); errors.Is(err, os.ErrDeadlineExceeded) {
		t.Fatal("the broker outlives its parent")
	}
	waitGone(t, pid)
}

func TestKilledParentTakesBrokerAlong(t *testing.T) {
	cmd, pid, address := startParent(t, "parent")
	killed(t, cmd, pid, address)
}

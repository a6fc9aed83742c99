package cli

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"sixnines/drivers/all"
)

// page gets what is served at an address; ok is false where nobody listens any more.
func page(t *testing.T, address string) (text string, ok bool) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, nil)
	if err != nil {
		t.Fatal(err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return "", false
	}
	defer response.Body.Close() // nothing is written
	body, err := io.ReadAll(response.Body)
	return string(body), err == nil
}

// Whoever scrapes while a run goes on sees its counts, and before the command ends its
// verdict.
func TestMetricsWhileRunning(t *testing.T) {
	said, to := io.Pipe()
	code := make(chan int, 1)
	go func() {
		defer to.Close()
		code <- Main(t.Context(), Env{Args: []string{"run", "mem", "--metrics", "127.0.0.1:0", "--rate", "1000/s", "--duration", "1s", "--warmup", "0s"},
			Dir: t.TempDir(), Stdin: strings.NewReader(""), Stdout: io.Discard, Stderr: to, Drivers: all.Set()})
	}()
	lines := bufio.NewScanner(said)
	if !lines.Scan() {
		t.Fatal("nothing is said")
	}
	address, ok := strings.CutPrefix(lines.Text(), "metrics ")
	if !ok {
		t.Fatalf("said %q", lines.Text())
	}
	go func() {
		for lines.Scan() {
		}
	}()
	counts := regexp.MustCompile(`(?m)^sixnines_delivery_response_seconds_count\{run="[0-9a-f]{16}",workload=""\} [1-9]`)
	running, ended := false, false
	for text, ok := page(t, address); ok; text, ok = page(t, address) {
		running = running || counts.MatchString(text) && strings.Contains(text, `phase="measure"`)
		ended = ended || strings.Contains(text, "sixnines_verdict_info{")
	}
	if c := <-code; c != exitOK && c != exitInvalid {
		t.Errorf("exit code %d", c)
	}
	if !running || !ended {
		t.Errorf("seen while it ran: %v; its verdict: %v", running, ended)
	}
}

// An address that is taken is told before anything is begun.
func TestMetricsAtAnAddressInUse(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close() // nothing was sent
	dir := t.TempDir()
	for _, address := range []string{l.Addr().String(), "nowhere", "127.0.0.1:99999"} {
		code, out, errs := invoke(t, Env{Dir: dir}, "run", "mem", "--duration", "100ms", "--metrics", address)
		if code != exitUsage || out != "" || !strings.Contains(errs, "--metrics "+address) || !strings.Contains(errs, "hint: give an address") {
			t.Errorf("%s: exit code %d, %q, %q", address, code, out, errs)
		}
	}
	for _, command := range []string{"ab mem", "sweep mem", "capacity mem", "study run message-queue-latency"} {
		if code, _, errs := invoke(t, Env{Dir: dir}, append(strings.Fields(command), "--metrics", "nowhere")...); code != exitUsage || !strings.Contains(errs, "--metrics nowhere") {
			t.Errorf("%s: exit code %d, %q", command, code, errs)
		}
	}
	if made, err := os.ReadDir(dir); err != nil || len(made) > 0 {
		t.Errorf("%v, %v in %s", err, made, filepath.Base(dir))
	}
}

// A flag that is there without a value is not as if it were not there.
func TestFlagsWithoutAValue(t *testing.T) {
	dir := t.TempDir()
	for _, flag := range []string{"--url", "--metrics", "--otlp", "--junit", "--out", "--resume", "--slo"} {
		code, _, errs := invoke(t, Env{Dir: dir}, "run", "mem", "--duration", "100ms", flag, "")
		if code != exitUsage || !strings.Contains(errs, flag+` cannot be ""`) {
			t.Errorf("%s: exit code %d: %s", flag, code, errs)
		}
	}
	if made, err := os.ReadDir(dir); err != nil || len(made) > 0 {
		t.Errorf("%v, %v in %s", err, made, filepath.Base(dir))
	}
}

// A run is pushed with its end; where the collector cannot be had the run goes on, and
// the failure is told without what may be secret.
func TestOTLP(t *testing.T) {
	pushed := make(chan *http.Request, 100)
	s := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { pushed <- r }))
	defer s.Close()
	env := Env{Dir: t.TempDir(), Environ: []string{"OTEL_EXPORTER_OTLP_HEADERS=api-key=secret"}}
	args := []string{"run", "mem", "--rate", "500/s", "--duration", "200ms", "--warmup", "0s", "--otlp"}
	code, _, errs := invoke(t, env, append(args, s.URL)...)
	if code != exitOK && code != exitInvalid || strings.Contains(errs, "failed") || strings.Contains(errs, "did not receive") {
		t.Fatalf("exit code %d: %s", code, errs)
	}
	if r := <-pushed; r.URL.Path != "/v1/metrics" || r.Header.Get("Api-Key") != "secret" {
		t.Errorf("pushed to %s with %v", r.URL, r.Header)
	}
	s.Close()
	code, _, errs = invoke(t, env, append(args, s.URL)...)
	if code != exitOK && code != exitInvalid || !strings.Contains(errs, " pushes failed, the last with: ") || !strings.Contains(errs, s.URL+"/v1/metrics did not receive the end of 1 run\n") || strings.Contains(errs, "secret") {
		t.Errorf("exit code %d: %s", code, errs)
	}
	if code, _, errs := invoke(t, env, append(args, "http://me:secret@collector")...); code != exitUsage || strings.Contains(errs, "secret") || !strings.Contains(errs, "OTEL_EXPORTER_OTLP_HEADERS") {
		t.Errorf("exit code %d: %s", code, errs)
	}
}

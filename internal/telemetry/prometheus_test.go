package telemetry

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"sixnines/result"
)

// prometheusLimit is how long Prometheus may take to have every figure. It decides only how
// long a failure takes.
const prometheusLimit = time.Minute

// A real Prometheus answers each query of the dashboard, with native histograms and with
// classic ones.
func TestDashboardInPrometheus(t *testing.T) {
	program, err := exec.LookPath("prometheus")
	if err != nil {
		if os.Getenv("SIXNINES_BROKERS_REQUIRED") != "" {
			t.Fatal("no prometheus, and SIXNINES_BROKERS_REQUIRED is set")
		}
		t.Skip("SKIPPED: no prometheus: install the package to have the dashboard's queries asked")
	}
	for name, flags := range map[string][]string{"classic": nil, "native": {"--enable-feature=native-histograms"}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			live := NewLive()
			page, err := Listen(":0", live)
			if err != nil {
				t.Fatal(err)
			}
			defer page.Close()
			ask := startPrometheus(t, program, page.Address(), flags...)
			ctx, cancel := context.WithTimeout(t.Context(), prometheusLimit)
			defer cancel()
			during, after := everything(t, live), queries(t)
			// The run goes on until each query that is about a running run is answered.
			for open := after; ; {
				during()
				if open = unanswered(t, ctx, ask, open); len(open) == countOf(open, "verdict_info", "objective_met", "preparing") {
					break
				}
				if ctx.Err() != nil {
					t.Fatalf("Prometheus does not answer %q", open)
				}
			}
			whole := testRun(1000)
			for _, part := range whole.Workloads {
				part.Summary.Objectives = []result.Objective{{Text: "lost == 0", Outcome: "met"}}
			}
			live.Finish(whole)
			live.Phase("connect")
			for open := []string{"sixnines_verdict_info", "sixnines_objective_met", "sixnines_preparing"}; len(open) > 0; {
				if open = unanswered(t, ctx, ask, open); ctx.Err() != nil {
					t.Fatalf("Prometheus does not answer %q", open)
				}
			}
			// A quantile is where its messages are: all of them took 1 ms.
			got := ask(ctx, `histogram_quantile(0.5, sum(rate(sixnines_delivery_response_seconds[1m]))) or histogram_quantile(0.5, sum by (le) (rate(sixnines_delivery_response_seconds_bucket[1m])))`)
			if len(got) != 1 || got[0] < 0.5e-3 || got[0] > 1.5e-3 {
				t.Errorf("the median of messages that took 1 ms is %v s", got)
			}
		})
	}
}

// everything begins a run with every latency and returns what adds 1,000 messages to each.
func everything(t *testing.T, live *Live) func() {
	t.Helper()
	run := testRun(1000)
	var headers []result.Header
	for _, part := range run.Parts() {
		h := part.Header
		h.Started, h.Rate = time.Now(), 1000
		headers = append(headers, h)
	}
	live.Begin(headers)
	return func() {
		for _, h := range headers {
			v := result.Interval{Phase: result.PhaseMeasure, Workload: h.Workload, InFlight: 1,
				Vitals: map[result.Vital]float64{"process.cpu": 0.5}, Counters: result.Counters{Sent: 1000, Acked: 1000, Received: 1000}}
			live.Interval(&v, func(visit func(m result.Metric, low, high, count int64)) {
				for _, m := range result.Metrics() {
					visit(m, 999_999, 1_000_000, 1000)
				}
			})
		}
	}
}

// queries are those of the dashboard, with what Grafana puts in for its variables.
func queries(t *testing.T) (out []string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "examples", "grafana", "dashboard.json"))
	if err != nil {
		t.Fatal(err)
	}
	var dashboard struct {
		Panels []struct {
			Targets []struct {
				Expr string `json:"expr"`
			} `json:"targets"`
		} `json:"panels"`
	}
	if err := json.Unmarshal(text, &dashboard); err != nil {
		t.Fatal(err)
	}
	for _, p := range dashboard.Panels {
		for _, target := range p.Targets {
			out = append(out, strings.NewReplacer("$run", ".*", "$workload", ".*", "$__rate_interval", "1m").Replace(target.Expr))
		}
	}
	return out
}

// unanswered returns the queries that have no series yet, after the next scrapes.
func unanswered(t *testing.T, ctx context.Context, ask func(context.Context, string) []float64, all []string) (open []string) {
	t.Helper()
	for _, q := range all {
		if len(ask(ctx, q)) == 0 {
			open = append(open, q)
		}
	}
	return open
}

// countOf counts the queries that are about one of these families.
func countOf(all []string, families ...string) (n int) {
	for _, q := range all {
		for _, f := range families {
			if strings.Contains(q, prefix+f) {
				n++
			}
		}
	}
	return n
}

// startPrometheus starts a Prometheus that scrapes an address, and returns what asks it.
func startPrometheus(t *testing.T, program, target string, flags ...string) func(context.Context, string) []float64 {
	t.Helper()
	dir := t.TempDir()
	config := fmt.Sprintf("scrape_configs:\n  - job_name: sixnines\n    scrape_interval: 200ms\n    scrape_timeout: 200ms\n    static_configs:\n      - targets: [%q]\n", target)
	if err := os.WriteFile(filepath.Join(dir, "prometheus.yml"), []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := free.Addr().String()
	_ = free.Close() // the port is Prometheus' now
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	c := exec.CommandContext(ctx, program, append([]string{"--config.file=" + filepath.Join(dir, "prometheus.yml"), "--storage.tsdb.path=" + filepath.Join(dir, "data"),
		"--web.listen-address=" + address}, flags...)...)
	log, err := os.Create(filepath.Join(dir, "log"))
	if err != nil {
		t.Fatal(err)
	}
	c.Stdout, c.Stderr = log, log
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cancel()
		_ = c.Wait() // it was killed
		_ = log.Close()
		if text, err := os.ReadFile(log.Name()); t.Failed() && err == nil {
			t.Logf("%s", text)
		}
	})
	return func(ctx context.Context, query string) []float64 {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+address+"/api/v1/query?query="+url.QueryEscape(query), nil)
		if err != nil {
			t.Fatal(err)
		}
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			return nil // not ready yet
		}
		defer response.Body.Close()
		var answer struct {
			Status string `json:"status"`
			Error  string `json:"error"`
			Data   struct {
				Result []struct {
					Value     []any `json:"value"`
					Histogram []any `json:"histogram"`
				} `json:"result"`
			} `json:"data"`
		}
		if response.StatusCode == http.StatusServiceUnavailable || json.NewDecoder(response.Body).Decode(&answer) != nil {
			return nil
		}
		if answer.Status != "success" {
			t.Fatalf("%s: %s", query, answer.Error)
		}
		var out []float64
		for _, r := range answer.Data.Result {
			var v float64
			if len(r.Value) == 2 {
				if _, err := fmt.Sscan(fmt.Sprint(r.Value[1]), &v); err != nil {
					t.Fatal(err)
				}
			}
			out = append(out, v)
		}
		return out
	}
}

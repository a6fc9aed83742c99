package telemetry

import (
	"compress/gzip"
	"encoding/pem"
	"io"
	"log"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	common "go.opentelemetry.io/proto/otlp/common/v1"
	metrics "go.opentelemetry.io/proto/otlp/metrics/v1"
	"google.golang.org/protobuf/proto"
)

// received is a collector of OpenTelemetry that decodes what is pushed.
type received struct {
	mu      sync.Mutex
	answer  int // status
	headers http.Header
	path    string
	// instance is the service.instance.id of the last push.
	instance string
	pushes   []map[string]*metrics.Metric // by name
	came     chan struct{}
}

func receive(t *testing.T) (*received, *httptest.Server) {
	t.Helper()
	r := &received{answer: http.StatusOK, came: make(chan struct{}, 100)}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		var from io.Reader = q.Body
		var err error
		if q.Header.Get("Content-Encoding") == "gzip" {
			if from, err = gzip.NewReader(q.Body); err != nil {
				t.Error(err)
				return
			}
		}
		body, err := io.ReadAll(from)
		data := &metrics.MetricsData{}
		if err == nil {
			err = proto.Unmarshal(body, data)
		}
		if err != nil {
			t.Error(err)
		}
		all := map[string]*metrics.Metric{}
		for _, m := range data.GetResourceMetrics()[0].GetScopeMetrics()[0].GetMetrics() {
			all[m.GetName()] = m
		}
		r.mu.Lock()
		r.headers, r.path, r.pushes = q.Header, q.URL.Path, append(r.pushes, all)
		r.instance = attributeOf(data.GetResourceMetrics()[0].GetResource(), "service.instance.id")
		w.WriteHeader(r.answer)
		r.mu.Unlock()
		r.came <- struct{}{}
	}))
	t.Cleanup(s.Close)
	return r, s
}

func (r *received) await(t *testing.T) map[string]*metrics.Metric {
	t.Helper()
	select {
	case <-r.came:
	case <-time.After(time.Minute):
		t.Fatal("nothing is pushed")
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.pushes[len(r.pushes)-1]
}

func push(t *testing.T, target Target, live *Live, period time.Duration) *Pusher {
	t.Helper()
	p, err := Push(target, live, "1.2.3", period, os.Getenv)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func attributeOf(p interface {
	GetAttributes() []*common.KeyValue
}, key string) string {
	for _, a := range p.GetAttributes() {
		if a.GetKey() == key {
			return a.GetValue().GetStringValue()
		}
	}
	return ""
}

// A push has the recorded values as exponential histograms; a finished run is pushed once,
// with its verdict.
func TestPush(t *testing.T) {
	r, s := receive(t)
	target, err := NewTarget(s.URL, "api-key=a%20secret, tenant=blue", "")
	if err != nil {
		t.Fatal(err)
	}
	live := NewLive()
	p := push(t, target, live, time.Hour)
	run := testRun(0, 80_000, 2_000_000)
	follow(live, run)
	live.Finish(run)
	all := r.await(t)
	if r.path != "/v1/metrics" || r.headers.Get("Api-Key") != "a secret" || r.headers.Get("Tenant") != "blue" {
		t.Errorf("pushed to %s with %v", r.path, r.headers)
	}
	for name, unit := range map[string]string{"sixnines_delivery_response_seconds": "s", "sixnines_sent_total": "{message}", "sixnines_bytes_sent_total": "By",
		"sixnines_payload_bytes": "By", "sixnines_asked_rate": "{message}/s", "sixnines_verdict_info": "1", "sixnines_window_start_timestamp_seconds": "s"} {
		if m := all[name]; m == nil || m.GetUnit() != unit {
			t.Errorf("%s has the unit %q, want %q", name, m.GetUnit(), unit)
		}
	}
	if p.instance == "" || r.instance != p.instance {
		t.Errorf("the resource is the instance %q, want %q", r.instance, p.instance)
	}
	h := all["sixnines_delivery_response_seconds"].GetExponentialHistogram()
	if len(h.GetDataPoints()) != 2 || h.GetAggregationTemporality() != metrics.AggregationTemporality_AGGREGATION_TEMPORALITY_CUMULATIVE {
		t.Fatalf("%v", h)
	}
	for _, x := range h.GetDataPoints() {
		n := x.GetZeroCount()
		for i, c := range x.GetPositive().GetBucketCounts() {
			if n += c; c == 0 {
				continue
			}
			base := math.Exp2(math.Exp2(-float64(x.GetScale())))
			low, high := math.Pow(base, float64(int(x.GetPositive().GetOffset())+i)), math.Pow(base, float64(int(x.GetPositive().GetOffset())+i+1))
			if !(low < 80e-6*1.002 && high >= 80e-6 || low < 2e-3*1.002 && high >= 2e-3) {
				t.Errorf("%d values between %g and %g s", c, low, high)
			}
		}
		if n != 3 || x.GetCount() != 3 || x.GetStartTimeUnixNano() != 1e18 || attributeOf(x, "workload") == "" {
			t.Errorf("%d values in buckets, %v", n, x)
		}
	}
	sent := all["sixnines_sent_total"].GetSum()
	if !sent.GetIsMonotonic() || sent.GetDataPoints()[0].GetAsInt() != 5 || sent.GetDataPoints()[0].GetStartTimeUnixNano() != 1e18 {
		t.Errorf("sent: %v", sent)
	}
	if v := all["sixnines_verdict_info"].GetGauge().GetDataPoints(); len(v) != 2 || attributeOf(v[0], "verdict") != "VALID to p99" {
		t.Errorf("verdict: %v", v)
	}
	if n := all["sixnines_unresolved_messages"].GetGauge().GetDataPoints()[0].GetAsDouble(); n != 2 {
		t.Errorf("%v unresolved, want 2", n)
	}
	if got := p.Close(t.Context()); got.Made != 1 || got.Failed != 0 || got.Unreported != 0 {
		t.Errorf("the same end is pushed again: %+v", got)
	}
}

// Failures in a row are reported once and all counted, and the push is repeated.
func TestPushesThatFail(t *testing.T) {
	r, s := receive(t)
	r.answer = http.StatusForbidden
	target, err := NewTarget(s.URL+"/otlp/metrics", "key=secret")
	if err != nil {
		t.Fatal(err)
	}
	live := NewLive()
	told := make(chan error, 100)
	p := push(t, target, live, 10*time.Millisecond)
	p.Tell(func(err error) { told <- err })
	follow(live, testRun(1000))
	r.await(t)
	r.await(t)
	r.mu.Lock()
	r.answer = http.StatusOK
	r.mu.Unlock()
	live.Finish(testRun(1000))
	got := p.Close(t.Context())
	if got.Failed == 0 || got.Failed == got.Made || got.Last != nil || got.Unreported != 0 || len(told) != 1 {
		t.Errorf("%+v; told %d times", got, len(told))
	}
	if err := (<-told).Error(); strings.Contains(err, "secret") || !strings.Contains(err, "403") || !strings.Contains(err, "/otlp/metrics") {
		t.Error(err)
	}
	s.Close()
	p = push(t, target, live, time.Hour)
	live.Finish(testRun(1000))
	if got := p.Close(t.Context()); got.Last == nil || got.Unreported == 0 || strings.Contains(got.Failure.Error(), "secret") {
		t.Errorf("nobody listens: %+v", got)
	}
}

// The environment variables apply, and a push to a busy collector is retried.
func TestPushAsTheEnvironmentSays(t *testing.T) {
	t.Setenv("OTEL_EXPORTER_OTLP_COMPRESSION", "gzip")
	r, s := receive(t)
	r.answer = http.StatusServiceUnavailable
	target, err := NewTarget(s.URL)
	if err != nil {
		t.Fatal(err)
	}
	live := NewLive()
	p := push(t, target, live, time.Hour)
	live.Finish(testRun(1000))
	r.await(t)
	if got := r.headers.Get("Content-Encoding"); got != "gzip" {
		t.Errorf("encoded as %q", got)
	}
	r.mu.Lock()
	r.answer = http.StatusOK
	r.mu.Unlock()
	r.await(t)
	if got := p.Close(t.Context()); got.Made == 0 || got.Last != nil || got.Unreported != 0 {
		t.Errorf("%+v", got)
	}
	t.Setenv("OTEL_EXPORTER_OTLP_CERTIFICATE", certificate(t))
	if _, err := Push(target, live, "1.2.3", time.Hour, os.Getenv); err == nil || !strings.Contains(err.Error(), "insecure") {
		t.Errorf("a certificate for http: %v", err)
	}
}

// certificate is a file with that of a test server.
func certificate(t *testing.T) string {
	t.Helper()
	s := httptest.NewTLSServer(http.NotFoundHandler())
	defer s.Close()
	path := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw}), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestTargets(t *testing.T) {
	for _, c := range []struct{ address, headers, wrong string }{
		{"collector:4318", "", "no http or https URL"},
		{"ftp://collector", "", "no http or https URL"},
		{"http://user:secret@collector", "", "login"},
		{"http://collector\x7fsecret", "", "no URL"},
		{"http://collector/?key=secret", "", "no queries"},
		{"http://collector", "secret", "not key=value"},
		{"http://collector", "key=%zz-secret", "not key=value"},
	} {
		if _, err := NewTarget(c.address, c.headers); err == nil || !strings.Contains(err.Error(), c.wrong) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s, %s: %v", c.address, c.headers, err)
		}
	}
	if got, err := NewTarget("https://collector:4318/"); err != nil || got.String() != "https://collector:4318/v1/metrics" {
		t.Errorf("%v, %v", got, err)
	}
}

// What the variables cannot mean is told, with the variable; a collector that takes a part only is
// told as a failure, with its reason.
func TestExporters(t *testing.T) {
	https, err := NewTarget("https://collector")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ name, value, wrong string }{
		{"OTEL_EXPORTER_OTLP_COMPRESSION", "zstd", "gzip or none"},
		{"OTEL_EXPORTER_OTLP_METRICS_TIMEOUT", "5s", "milliseconds"},
		{"OTEL_EXPORTER_OTLP_CERTIFICATE", filepath.Join(t.TempDir(), "none.pem"), "no such file"},
		{"OTEL_EXPORTER_OTLP_CLIENT_KEY", "key.pem", "go together"},
	} {
		_, err := newExporter(https, "1.2.3", func(name string) string { return map[string]string{c.name: c.value}[name] })
		if err == nil || !strings.Contains(err.Error(), c.name) || !strings.Contains(err.Error(), c.wrong) {
			t.Errorf("%s=%s: %v", c.name, c.value, err)
		}
	}
	for _, c := range []struct {
		answer []byte
		wrong  string
	}{
		{nil, ""},
		{[]byte{0x0a, 0}, ""},
		{[]byte{0x0a, 4, 0x08, 7, 0x12, 0}, "rejected 7 of the points"},
		{append([]byte{0x0a, 6, 0x08, 7, 0x12, 2}, "no"...), `7 of the points: "no"`},
		{[]byte{0x0a, 9}, ""}, // cut off
	} {
		if err := rejected(c.answer); (err != nil) != (c.wrong != "") || err != nil && !strings.Contains(err.Error(), c.wrong) {
			t.Errorf("% x: %v", c.answer, err)
		}
	}
}

// A collector with a certificate of its own is trusted by the variable alone.
func TestExporterTrusts(t *testing.T) {
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.StartTLS()
	defer s.Close()
	file := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw}), 0o600); err != nil {
		t.Fatal(err)
	}
	target, err := NewTarget(s.URL)
	if err != nil {
		t.Fatal(err)
	}
	for _, trusted := range []string{"", file} {
		e, err := newExporter(target, "1.2.3", func(name string) string { return map[string]string{"OTEL_EXPORTER_OTLP_CERTIFICATE": trusted}[name] })
		if err != nil {
			t.Fatal(err)
		}
		if err := e.export(t.Context(), &metrics.ResourceMetrics{}); (err == nil) != (trusted != "") {
			t.Errorf("with %q: %v", trusted, err)
		}
	}
}

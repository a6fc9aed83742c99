package telemetry

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"syscall"
	"testing"
	"time"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"

	"sixnines/internal/histograms"
	"sixnines/result"
)

// testRun is a run of two workloads with a value for each of these, ns.
func testRun(values ...int64) *result.Run {
	whole := &result.Run{Header: result.Header{ID: "00f1d2c3b4a59687"}}
	for _, name := range []string{"events", "traffic"} {
		h := result.NewHistogram(1, int64(time.Minute), 3)
		for _, v := range values {
			_ = h.Record(v, 1)
		}
		n := int64(len(values))
		whole.Workloads = append(whole.Workloads, &result.Run{
			Header:   result.Header{ID: whole.Header.ID, Workload: name, Started: time.Unix(1e9, 0)},
			Counters: result.Counters{Sent: n + 2, Received: n, Missing: 2},
			Metrics:  map[result.Metric]*result.Merged{result.DeliveryResponse: (&result.Merged{Hist: h}).WithPending(2)},
			Summary:  &result.Summary{Verdict: result.Verdict{Status: result.Valid, ValidTo: "99"}},
		})
	}
	return whole
}

// follow passes the run to live interval by interval, as the engine does.
func follow(l *Live, run *result.Run) {
	var headers []result.Header
	for _, part := range run.Parts() {
		headers = append(headers, part.Header)
	}
	l.Begin(headers)
	for _, part := range run.Parts() {
		ranks := histograms.RanksOf(part.Metrics[result.DeliveryResponse].Hist)
		for i := range 2 {
			v := result.Interval{Phase: result.PhaseMeasure, Workload: part.Header.Workload, InFlight: 3, Vitals: map[result.Vital]float64{"process.cpu": 0.5}}
			if i == 0 {
				v.Counters = result.Counters{Sent: part.Counters.Sent, Received: part.Counters.Received}
			}
			l.Interval(&v, func(visit func(m result.Metric, low, high, count int64)) {
				ranks.Buckets(func(low, high, n int64) {
					if odd := low%2 == 1; odd == (i == 1) {
						visit(result.DeliveryResponse, low, high, n)
					}
				})
			})
		}
	}
}

// scrape gets the page as text, or as protocol buffers.
func scrape(t *testing.T, s *Server, native bool) map[string]*dto.MetricFamily {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+s.Address()+"/metrics", nil)
	if err != nil {
		t.Fatal(err)
	}
	if native {
		request.Header.Set("Accept", string(expfmt.NewFormat(expfmt.TypeProtoDelim)))
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close() // nothing is written
	text, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode != http.StatusOK {
		t.Fatalf("%v, %s: %s", err, response.Status, text)
	}
	all := map[string]*dto.MetricFamily{}
	for d := expfmt.NewDecoder(bytes.NewReader(text), expfmt.ResponseFormat(response.Header)); ; {
		f := &dto.MetricFamily{}
		if err := d.Decode(f); errors.Is(err, io.EOF) {
			return all
		} else if err != nil {
			t.Fatal(err)
		}
		all[f.GetName()] = f
	}
}

// spans are the buckets of a native histogram by key.
func spans(h *dto.Histogram) map[int]int64 {
	all, key, at, n := map[int]int64{}, 0, 0, int64(0)
	for _, s := range h.GetPositiveSpan() {
		key += int(s.GetOffset())
		for range s.GetLength() {
			n += h.GetPositiveDelta()[at]
			all[key], key, at = n, key+1, at+1
		}
	}
	return all
}

// During a run a scrape returns what was recorded so far, in both kinds of buckets. After
// its end it returns the result with the verdict, until the next run has ended.
func TestScrape(t *testing.T) {
	live := NewLive()
	s, err := Listen("127.0.0.1:0", live)
	if err != nil {
		t.Fatal(err)
	}
	live.Phase("connect")
	if f := scrape(t, s, false); len(f) != 1 || f["sixnines_preparing"] == nil {
		t.Errorf("before the run: %v", f)
	}
	values := []int64{0, 80_000, 80_001, 81_000, 2_000_000, 55e9}
	run := testRun(values...)
	follow(live, run)
	for _, over := range []bool{false, true} {
		beyond := uint64(0)
		if over {
			live.Finish(run)
			beyond = 2
		}
		for _, native := range []bool{false, true} {
			name := fmt.Sprintf("over %v, native %v", over, native)
			families := scrape(t, s, native)
			f := families["sixnines_delivery_response_seconds"]
			if len(f.GetMetric()) != 2 {
				t.Fatalf("%s: %d workloads", name, len(f.GetMetric()))
			}
			for _, m := range f.GetMetric() {
				h := m.GetHistogram()
				if h.GetSampleCount() != 6+beyond || math.Abs(h.GetSampleSum()-55.002241) > 0.1 {
					t.Errorf("%s: %d values, %g s", name, h.GetSampleCount(), h.GetSampleSum())
				}
				upTo := map[float64]uint64{}
				for _, b := range h.GetBucket() {
					upTo[b.GetUpperBound()] = b.GetCumulativeCount()
				}
				if upTo[70e-6] != 1 || upTo[100e-6] != 4 || upTo[3e-3] != 5 || upTo[100] != 6 {
					t.Errorf("%s: %v", name, upTo)
				}
				if !native {
					continue
				}
				got := spans(h)
				if h.GetSchema() != schema || h.GetZeroCount() != 1 || got[keyOf(80_000)]+got[keyOf(81_100)] < 3 || got[overflow] != int64(beyond) {
					t.Errorf("%s: schema %d, %d zeros, %v", name, h.GetSchema(), h.GetZeroCount(), got)
				}
			}
			if missing := families["sixnines_missing_total"].GetMetric(); missing[0].GetCounter().GetValue()+missing[0].GetUntyped().GetValue() != float64(beyond) {
				t.Errorf("%s: missing %v", name, missing[0])
			}
			if verdict := families["sixnines_verdict_info"]; (verdict != nil) != over {
				t.Errorf("%s: verdict %v", name, verdict)
			}
			if phase := families["sixnines_phase"]; (phase != nil) == over {
				t.Errorf("%s: phase %v", name, phase)
			}
		}
	}
	next := testRun(1000)
	next.Header.ID = "1111111111111111"
	for _, part := range next.Workloads {
		part.Header.ID = next.Header.ID
	}
	follow(live, next)
	if n := len(scrape(t, s, true)["sixnines_run_info"].GetMetric()); n != 4 {
		t.Errorf("%d workloads of the run before and this one", n)
	}
	live.Finish(nil)
	if n := len(scrape(t, s, true)["sixnines_run_info"].GetMetric()); n != 2 {
		t.Errorf("%d workloads after a run without a result", n)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if _, err := net.Dial("tcp", s.Address()); !errors.Is(err, syscall.ECONNREFUSED) {
		t.Errorf("after its end: %v", err)
	}
}

func TestListenWhereSomebodyDoes(t *testing.T) {
	s, err := Listen("127.0.0.1:0", NewLive())
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close() // what it says is of no interest here
	if _, err := Listen(s.Address(), NewLive()); err == nil || !strings.Contains(err.Error(), "address already in use") {
		t.Errorf("two at one address: %v", err)
	}
}

// A periodic scraper sees the end of the last run; Await waits for no other scrapers.
func TestAwait(t *testing.T) {
	live := NewLive()
	s, err := Listen("127.0.0.1:0", live)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close() // what it says is of no interest here
	follow(live, testRun(1000))
	scrape(t, s, true)
	live.Finish(testRun(1000))
	if s.Due() != 0 {
		t.Error("one scrape has no period")
	}
	scrape(t, s, true)
	if s.Due() != 0 {
		t.Error("the end was seen")
	}
	live.Finish(testRun(1000))
	if s.Due() == 0 {
		t.Fatal("nobody has seen how the second run ended")
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		s.Await(context.Background())
	}()
	scrape(t, s, true)
	select {
	case <-done:
	case <-time.After(time.Minute):
		t.Error("still waiting after the scrape that saw the end")
	}
}

// BenchmarkScrape is the processor time that a scrape of a run with ten metrics takes.
func BenchmarkScrape(b *testing.B) {
	live := NewLive()
	live.Begin([]result.Header{{ID: "00f1d2c3b4a59687"}})
	live.Interval(&result.Interval{}, func(visit func(m result.Metric, low, high, count int64)) {
		for _, m := range result.Metrics()[:10] {
			for v := int64(10_000); v < 20_000_000; v += v / 500 {
				visit(m, v, v+v/1000, 10)
			}
		}
	})
	s, err := Listen("127.0.0.1:0", live)
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close() // what it says is of no interest here
	for _, accept := range []string{"text/plain", string(expfmt.NewFormat(expfmt.TypeProtoDelim))} {
		b.Run(strings.SplitN(accept, ";", 2)[0], func(b *testing.B) {
			b.ReportAllocs()
			bytes := 0
			for b.Loop() {
				w := httptest.NewRecorder()
				request := httptest.NewRequestWithContext(b.Context(), http.MethodGet, "/metrics", nil)
				request.Header.Set("Accept", accept)
				s.http.Handler.ServeHTTP(w, request)
				bytes = w.Body.Len()
			}
			b.ReportMetric(float64(bytes), "bytes/scrape")
		})
	}
}

// BenchmarkInterval measures the processor time that an interval takes on the goroutine
// that writes intervals.
func BenchmarkInterval(b *testing.B) {
	live := NewLive()
	live.Begin([]result.Header{{ID: "00f1d2c3b4a59687"}})
	v := result.Interval{}
	b.ReportAllocs()
	for b.Loop() {
		live.Interval(&v, func(visit func(m result.Metric, low, high, count int64)) {
			for _, m := range result.Metrics()[:10] {
				for v := int64(10_000); v < 20_000_000; v += v / 50 {
					visit(m, v, v+v/1000, 10)
				}
			}
		})
	}
}

// A message that came damaged and then whole is no longer corrupted, but what is exported as a counter does not fall.
func TestCorruptedDoesNotFall(t *testing.T) {
	live := NewLive()
	s, err := Listen("127.0.0.1:0", live)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close() // what it says is of no interest here
	live.Begin([]result.Header{testRun().Workloads[0].Header})
	for _, c := range []result.Counters{{Received: 7, Corrupted: 3}, {Received: 1, Corrupted: -1, CorruptedCopies: 1, Duplicated: 1}} {
		live.Interval(&result.Interval{Phase: result.PhaseMeasure, Workload: "events", Counters: c}, func(func(result.Metric, int64, int64, int64)) {})
		if n := scrape(t, s, false)["sixnines_corrupted_total"].GetMetric()[0].GetCounter().GetValue(); n != 3 {
			t.Errorf("%v corrupted, want 3", n)
		}
	}
}

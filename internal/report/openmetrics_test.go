package report

import (
	"bytes"
	"strings"
	"testing"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"sixnines/internal/histograms"
	"sixnines/result"
)

// exposed parses what OpenMetrics writes: Prometheus's parser of its own text reads
// it, but for counters, whose type lines are OpenMetrics's.
func exposed(t *testing.T, runs ...*result.Run) map[string]*dto.MetricFamily {
	t.Helper()
	var b bytes.Buffer
	if err := writeOpenMetrics(&b, runs); err != nil {
		t.Fatal(err)
	}
	if !strings.HasSuffix(b.String(), "\n# EOF\n") || strings.Contains(b.String(), "\n\n") {
		t.Error("the text does not end as OpenMetrics does")
	}
	parser := expfmt.NewTextParser(model.LegacyValidation)
	families, err := parser.TextToMetricFamilies(&b)
	if err != nil {
		t.Fatal(err)
	}
	return families
}

// labels are those of a series.
func labels(m *dto.Metric) map[string]string {
	all := map[string]string{}
	for _, l := range m.GetLabel() {
		all[l.GetName()] = l.GetValue()
	}
	return all
}

func TestOpenMetrics(t *testing.T) {
	refused := refusedRun()
	refused.Header.ID = "1111111111111111"
	refused.Header.Workload = "orders"
	rich := richRun()
	families := exposed(t, rich, refused)

	for _, run := range []*result.Run{rich, refused} {
		found := 0
		for m, x := range run.Metrics {
			f := families["sixnines_"+strings.ReplaceAll(string(m), ".", "_")+"_seconds"]
			for _, s := range f.GetMetric() {
				if l := labels(s); l["run"] != run.Header.ID || l["workload"] != run.Header.Workload {
					continue
				}
				found++
				h, ranks := s.GetHistogram(), histograms.RanksOf(x.Hist)
				if got, want := h.GetSampleCount(), uint64(ranks.Count()+x.Refused); got != want {
					t.Errorf("%s counts %d values, want %d", m, got, want)
				}
				for i, b := range h.GetBucket() {
					bound := int64(b.GetUpperBound()*1e9 + 0.5)
					if i == len(h.GetBucket())-1 {
						break // what is slower than every bound
					}
					if got, want := int64(b.GetCumulativeCount()), ranks.Count()-ranks.Above(bound); got != want {
						t.Errorf("%s: %d values up to %d ns, want %d", m, got, bound, want)
					}
				}
			}
		}
		if found != len(run.Metrics) {
			t.Errorf("%d of %d metrics are there", found, len(run.Metrics))
		}
	}

	// No percentile is a number that reports give none for.
	there := map[string]bool{}
	for _, s := range families["sixnines_percentile_seconds"].GetMetric() {
		l := labels(s)
		there[l["run"]+" "+l["metric"]+" "+l["percentile"]+" "+l["bound"]] = true
	}
	for _, run := range []*result.Run{rich, refused} {
		for m, d := range run.Summary.Histograms {
			at := run.Header.ID + " " + string(m) + " "
			for _, p := range append(result.Percentiles(), result.Maximum) {
				f, number := d.At(p)
				number = number && !f.Refused
				if there[at+string(p)+" value"] != number {
					t.Errorf("%s%s is a number: %v, want %v", at, p, !number, number)
				}
				if there[at+string(p)+" high"] && f.Interval.Open {
					t.Errorf("%s%s has an interval without an end, and is told one", at, p)
				}
			}
		}
	}
	if !there[rich.Header.ID+" delivery.response 99.9 high"] || there["1111111111111111 delivery.response 99 value"] {
		t.Error("the sample supports p99.9 of one run, and refused messages reach p99 of the other")
	}
	met := map[string]float64{}
	for _, s := range families["sixnines_objective_met"].GetMetric() {
		met[labels(s)["outcome"]] += s.GetGauge().GetValue()
	}
	if len(met) != 4 || met["met"] != 1 || met["missed"]+met["undecided"]+met["meaningless"] != 0 {
		t.Errorf("objectives: %v", met)
	}
	if l := labels(families["sixnines_verdict_info"].GetMetric()[0]); l["status"] != string(rich.Summary.Verdict.Status) {
		t.Errorf("verdict: %v", l)
	}
}

func TestOpenMetricsOfOneRunTwice(t *testing.T) {
	families := exposed(t, openRun().make(), openRun().make())
	if n := len(families["sixnines_run_info"].GetMetric()); n != 1 {
		t.Errorf("one run is told %d times", n)
	}
}

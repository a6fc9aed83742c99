package telemetry

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"sixnines/result"
)

// families returns the names of all families that are exported during a run and after its
// end.
func families(t *testing.T) map[string]bool {
	t.Helper()
	run := testRun(1000)
	for _, part := range run.Workloads {
		for _, m := range result.Metrics() {
			part.Metrics[m] = part.Metrics[result.DeliveryResponse]
		}
		part.Summary.Objectives = []result.Objective{{Text: "lost == 0", Outcome: "met"}}
	}
	over, going, preparing := NewLive(), NewLive(), NewLive()
	over.Finish(run)
	follow(going, run)
	preparing.Phase("connect")
	names := map[string]bool{}
	for _, live := range []*Live{over, going, preparing} {
		registry := prometheus.NewPedanticRegistry()
		registry.MustRegister(collector{live.loads})
		all, err := registry.Gather()
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range all {
			names[f.GetName()] = true
		}
	}
	return names
}

// The dashboard queries only existing families, and uses no averages.
func TestDashboard(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "examples", "grafana", "dashboard.json"))
	if err != nil {
		t.Fatal(err)
	}
	var dashboard struct {
		Panels []struct {
			Title   string `json:"title"`
			Targets []struct {
				Expr string `json:"expr"`
			} `json:"targets"`
		} `json:"panels"`
	}
	if err := json.Unmarshal(text, &dashboard); err != nil {
		t.Fatal(err)
	}
	there, asked := families(t), 0
	name := regexp.MustCompile(prefix + `[a-z_]+`)
	for _, p := range dashboard.Panels {
		for _, target := range p.Targets {
			for _, n := range name.FindAllString(target.Expr, -1) {
				family := strings.TrimSuffix(strings.TrimSuffix(n, "_bucket"), "_count") // of classic histograms
				if asked++; !there[family] {
					t.Errorf("%s: there is no %s", p.Title, n)
				}
			}
			if strings.Contains(target.Expr, "avg") {
				t.Errorf("%s averages: %s", p.Title, target.Expr)
			}
		}
	}
	if asked < 30 {
		t.Errorf("the dashboard names %d families", asked)
	}
	for _, n := range []string{"delivery_response", "delivery_service", "publish_response", "publish_service"} {
		if !strings.Contains(string(text), "histogram_quantile(0.99, sum by (run, workload) (rate("+prefix+n+"_seconds{") {
			t.Errorf("the dashboard has no %s", n)
		}
	}
}

// docs/reference.md names each family: those of metrics and counters by an example.
func TestReferenceNamesFamilies(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "reference.md"))
	if err != nil {
		t.Fatal(err)
	}
	made := map[string]bool{}
	for _, m := range result.Metrics() {
		made[prefix+histogramName(m)] = true
	}
	for _, c := range counterNames() {
		made[prefix+c+"_total"] = true
	}
	for n := range families(t) {
		if !made[n] && !strings.Contains(string(text), "`"+n+"`") {
			t.Errorf("docs/reference.md does not name %s", n)
		}
	}
}

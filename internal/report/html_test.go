package report

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"sixnines/result"
)

var pagesDir = flag.String("pages", "", "also write the pages of the tests into this directory, for a look with a browser")

func htmlOf(t *testing.T, opt Options, runs ...*result.Run) string {
	t.Helper()
	var b bytes.Buffer
	if err := HTML(&b, runs, opt); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// pages are the situations that the page must serve. Reports do not change
// runs, so the tests share them.
var pages = sync.OnceValue(func() map[string][]*result.Run {
	lossy := stalledRun()
	lossy.acked, lossy.lost = true, 17
	minute := openRun()
	minute.seconds, minute.rate = 60, 3000
	var ten []*result.Run
	for i := range 10 {
		s := openRun()
		s.name, s.seed, s.rate, s.median = fmt.Sprintf("rate-%d", 400*(i+1)), uint64(i), 400*(i+1), 60e3*(1+0.2*float64(i))
		ten = append(ten, s.make())
	}
	hostile := openRun().make()
	spoil(hostile, payload)
	return map[string][]*result.Run{
		"one": {lossy.make()}, "plain": {openRun().make()}, "pair": {stalledRun().make(), closedRun().make()},
		"rich": {richRun()}, "repeats": repeatedRuns(12),
		"minute": {minute.make()}, "ten": ten, "hostile": {hostile}, "empty": {{}},
	}
})

// payload is what a hostile result file would say.
const payload = `</script><script>alert(1)</script><img src=x onerror=alert(2)>"'><svg onload=alert(3)>{{.}}` + "\u2028<!--\x00"

// spoil puts text into everything of a run that a report might show.
func spoil(r *result.Run, text string) {
	h := &r.Header
	h.Name, h.ID, h.Pattern, h.Driver, h.Managed, h.Ack, h.Raw, r.Path, r.Damaged = text, text, text, text, text, text, text, text, text
	h.Tool = result.Tool{Name: text, Version: text, Revision: text, Go: text}
	h.Scenario, _ = json.Marshal(map[string]string{text: text})
	h.Broker = map[string]string{text: text, "server": text, "version": text}
	h.Semantics = result.Semantics{Durability: text, Replication: text, Acknowledgment: text, Ordering: text, Delivery: text,
		Batching: text, Consumption: text, Transport: text, Settings: map[string]string{text: text}, Warnings: []string{text}}
	h.Clock = result.Clock{Source: text, Domain: text}
	h.Machine = []result.Fact{{Section: text, Name: text, Value: text, Note: text}}
	h.SetupTimes = []result.SetupTime{{Name: text, Duration: time.Millisecond}}
	r.Events = []result.Event{{At: 1e9, Kind: result.EventKind(text), Detail: text}}
	r.Pauses = []result.Pause{{Start: 2e9, End: 3e9, Source: result.PauseSource(text)}}
	r.Tail = []result.Exemplar{{Metric: result.Metric(text), Topic: text, Intended: 1e9, Done: 4e9}}
	h.Trial = &result.Trial{Set: text, Kind: text, Arm: text, Index: 1, Of: 2}
	h.Floor = &result.Floor{ID: text, Tool: h.Tool, Pattern: text, At: h.Started, Percentiles: map[result.Metric]map[result.Percentile]int64{result.DeliveryResponse: {result.Percentile(text): 1, "50": 2, "99": 3}}}
	r.Summary.Steady = &result.Steady{Metric: result.Metric(text), Text: text, P50: result.Trend{Class: text, From: 1}, P99: result.Trend{Class: text, From: 2}}
	r.Summary.Attribution = []result.Attribution{{Metric: result.Metric(text), Messages: 1, Causes: []result.Cause{{Source: text, Text: text, Named: true}}}}
	r.Summary.Objectives = []result.Objective{{Text: text, Outcome: text, Found: text}}
	for _, d := range r.Summary.Histograms {
		for _, p := range []string{"99", text} {
			d.Update(result.Percentile(p), func(f *result.Figure) { f.BlocksNA = text })
		}
	}
	r.Summary.Verdict = result.Verdict{Status: result.Status(text), Reasons: []result.Reason{
		{Status: result.Status(text), Code: result.ReasonCode(text), Text: text, Metric: result.Metric(text), Percentile: result.Percentile(text)},
		{Status: result.Suspect, Code: result.ReasonCode(text), Text: text, Metric: result.DeliveryResponse, Percentile: "99"}}}
	r.Summary.Throughput = &result.Throughput{Until: text, Received: 1}
	for i := range r.Series {
		r.Series[i].Vitals = map[result.Vital]float64{result.Vital(text): 1}
	}
}

func TestHTMLLoadsNothing(t *testing.T) {
	loads := regexp.MustCompile(`(?i)(src|href|action|data|poster|srcset)\s*=|@import|url\([^#]|<(link|iframe|object|embed|base|form|img)\b`)
	script := regexp.MustCompile(`(?s)<script>.*?</script>`)
	for name, runs := range pages() {
		text := htmlOf(t, Options{Command: "sixnines run"}, runs...)
		if name == "hostile" {
			continue // full of such words, escaped; TestHTMLEscapes is about it
		}
		if found := loads.FindString(script.ReplaceAllString(text, "")); found != "" && found != "data=" {
			t.Errorf("%s: the page refers to something outside: %q", name, found)
		}
		for _, address := range regexp.MustCompile(`https?://[^\s"'<)]+`).FindAllString(text, -1) {
			switch {
			case address == "http://www.w3.org/2000/svg", strings.HasPrefix(address, "https://github.com/leeoniya/uPlot"):
			default:
				t.Errorf("%s: the page holds the address %q", name, address)
			}
		}
	}
}

func TestHTMLEscapes(t *testing.T) {
	run := openRun().make()
	spoil(run, payload)
	other := stalledRun().make()
	spoil(other, payload)
	text := htmlOf(t, Options{Command: payload}, run, other)
	for _, bad := range []string{"<script>alert", "<img src=x", "<svg onload", "</script><script>alert"} {
		if strings.Contains(text, bad) {
			t.Errorf("the page holds %q", bad)
		}
	}
	if n := strings.Count(text, "<script"); n != 3 {
		t.Errorf("%d script elements, want data, uPlot and ours", n)
	}
	if n := strings.Count(text, "</script"); n != 3 {
		t.Errorf("%d ends of script elements, want 3", n)
	}
}

// TestHTMLIsWellFormed reads the page as XML, with HTML's entities and void
// elements allowed and the scripts, which are no XML, left out.
func TestHTMLIsWellFormed(t *testing.T) {
	strip := regexp.MustCompile(`(?s)(<script[^>]*>).*?(</script>)|(<style>).*?(</style>)`)
	for name, runs := range pages() {
		text := strip.ReplaceAllString(htmlOf(t, Options{}, runs...), "$1$2$3$4")
		d := xml.NewDecoder(strings.NewReader(text))
		d.Strict = false
		d.AutoClose = []string{"meta", "br"}
		d.Entity = xml.HTMLEntity
		var open []string
		ids := map[string]bool{}
		captions, tables := 0, 0
		for {
			token, err := d.Token()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			switch e := token.(type) {
			case xml.StartElement:
				open = append(open, e.Name.Local)
				switch e.Name.Local {
				case "table":
					tables++
				case "caption":
					captions++
				}
				for _, a := range e.Attr {
					if a.Name.Local == "id" {
						if ids[a.Value] {
							t.Errorf("%s: the id %q is there twice", name, a.Value)
						}
						ids[a.Value] = true
					}
					if strings.HasPrefix(a.Name.Local, "on") || a.Name.Local == "style" {
						t.Errorf("%s: <%s %s=…>, which the page's policy forbids", name, e.Name.Local, a.Name.Local)
					}
				}
			case xml.EndElement:
				if n := len(open); n == 0 || open[n-1] != e.Name.Local {
					t.Fatalf("%s: </%s> closes %v", name, e.Name.Local, open)
				}
				open = open[:len(open)-1]
			}
		}
		if len(open) > 0 {
			t.Errorf("%s: never closed: %v", name, open)
		}
		if captions != tables || tables == 0 {
			t.Errorf("%s: %d tables have %d captions", name, tables, captions)
		}
	}
}

func TestHTMLPolicyAdmitsItsOwn(t *testing.T) {
	text := htmlOf(t, Options{}, openRun().make())
	policy := regexp.MustCompile(`Content-Security-Policy" content="([^"]*)"`).FindStringSubmatch(text)
	if policy == nil {
		t.Fatal("the page has no content security policy")
	}
	admitted := strings.ReplaceAll(strings.ReplaceAll(policy[1], "&#39;", "'"), "&#43;", "+")
	for _, element := range regexp.MustCompile(`(?s)<(?:script|style)>(.*?)</(?:script|style)>`).FindAllStringSubmatch(text, -1) {
		if !strings.Contains(admitted, sourceHash(element[1])) {
			t.Errorf("the policy %s does not admit the element that begins %.60q", admitted, element[1])
		}
	}
}

func TestHTMLIsDeterministicAndModest(t *testing.T) {
	for name, runs := range pages() {
		a, b := htmlOf(t, Options{}, runs...), htmlOf(t, Options{}, runs...)
		if a != b {
			t.Errorf("%s: the same runs gave different pages", name)
		}
		if *pagesDir != "" {
			if err := os.WriteFile(filepath.Join(*pagesDir, name+".html"), []byte(a), 0o666); err != nil {
				t.Fatal(err)
			}
		}
		if limit := 400_000; len(runs) <= 2 && len(a) > limit {
			t.Errorf("%s: the page has %d bytes, want at most %d", name, len(a), limit)
		}
	}
}

func TestHTMLSaysWhatMatters(t *testing.T) {
	lossy := stalledRun()
	lossy.acked, lossy.lost = true, 17
	run := lossy.make()
	text := htmlOf(t, Options{}, run)
	for _, want := range []string{"SUSPECT", "own-lag", "BROKER ON THIS HOST", "n/a (needs 368,887)", "1 event: describes this run, not the system",
		"role=\"img\"", "lost acked", "guarantee is violated", "sixnines run scenario.yaml", "kvm-clock", "hiccup.thread.p99", "99.99 %", "prefers-color-scheme"} {
		if !strings.Contains(text, want) {
			t.Errorf("the page does not say %q", want)
		}
	}
	pair := htmlOf(t, Options{}, stalledRun().make(), closedRun().make())
	if !strings.Contains(pair, "Coordinated omission: for the same driver, pattern and size the delivery response p99 is 700 ms in the open loop (A) and 235 µs in the closed loop (B), 3,000 times less") {
		t.Error("open beside closed loop, and the page does not say what it shows")
	}
	if strings.Contains(pair, "No reason to suspect") {
		t.Error("a closed loop is called unblemished")
	}
}

func TestHTMLWithholdsPercentilesOfAnOverloadedRun(t *testing.T) {
	run := openRun().make()
	run.Summary.Verdict.Status = result.Unstable
	text := htmlOf(t, Options{}, run)
	if !strings.Contains(text, "n/a (unstable)") || !strings.Contains(text, "Response of nats-20k is left out") {
		t.Error("an overloaded run shows steady-state percentiles")
	}
}

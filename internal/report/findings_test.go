package report

import (
	"bytes"
	"encoding/json"
	"regexp"
	"strings"
	"testing"

	"sixnines/result"
)

func TestSteadyPartIsMarked(t *testing.T) {
	for _, c := range []struct {
		name     string
		p50, p99 int64
		want     []float64
	}{
		{"from the start", 0, 0, nil},
		{"never", -1, -1, nil},
		{"only the tail warms up", 0, 3e9, []float64{3}},
		{"both, apart", 2e9, 4e9, []float64{2, 4}},
		{"both at once", 5e9, 5e9, []float64{5}},
		{"the tail never", 2e9, -1, []float64{2}},
	} {
		run := openRun().make()
		run.Summary.Steady = &result.Steady{Metric: result.DeliveryResponse, P50: result.Trend{From: c.p50}, P99: result.Trend{From: c.p99}}
		chart, err := chartOf([]*result.Run{run}, kindTime)
		if err != nil {
			t.Fatal(err)
		}
		var got []float64
		for _, m := range chart.Moments {
			if strings.HasSuffix(m.Mark, "steady") {
				got = append(got, m.From)
			}
		}
		if len(got) != len(c.want) || len(got) > 0 && (got[0] != c.want[0] || got[len(got)-1] != c.want[len(got)-1]) {
			t.Errorf("%s: marks at %v, want %v", c.name, got, c.want)
		}
		if says := strings.Contains(chart.Caption, "Steady: "); says != (len(got) > 0) {
			t.Errorf("%s: the caption says %q", c.name, chart.Caption)
		}
	}
}

// TestHTMLShowsWhatIsBehindTheFigures holds the page of a rich run against what
// its file says.
func TestHTMLShowsWhatIsBehindTheFigures(t *testing.T) {
	text := regexp.MustCompile(`\s+`).ReplaceAllString(htmlOf(t, Options{}, richRun()), " ")
	for _, want := range []string{
		`<td class="bad">missed</td><td class="remark">17 acknowledged messages never arrived</td>`,
		`<td class="suspect">warm-up</td>`, "p99 warms up for 3 s",
		`<td class="suspect">cause</td><td class="number">62</td><td class="number">62 %</td><td class="number">0.4 %</td>`, "none of these",
		"written → read", "not the sum of its stages",
		"÷ floor", "2.5 ×", "Noise floor: a broker that does nothing",
		"by stretches", "556 ms – 916 ms", "the longest episode is 12 % of the window",
		"The slowest messages: delivery response", "consumer 1, orders.1/0", "acknowledgement, orders.1",
		"What delayed the generator", "hiccup.idle.max", "cpu.max throttled the generator", "p99.995 must be below the limit",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the page does not say %q", want)
		}
	}
	if n := strings.Count(text, "consumer 0, orders") + strings.Count(text, "consumer 1, orders"); n != 100 {
		t.Errorf("%d of the slowest hundred messages are on the page", n)
	}
	// All reasons against intervals by stretches being the same, one line says so.
	run := openRun().make()
	for _, p := range []string{"99", "99.9"} {
		run.Summary.Histograms[result.DeliveryResponse].Update(result.Percentile(p), func(f *result.Figure) { f.BlocksNA = "10 intervals, at least 60 are needed" })
	}
	text = htmlOf(t, Options{}, run)
	if n := strings.Count(text, "at least 60 are needed"); n != 1 || strings.Contains(text, "by stretches</th>") {
		t.Errorf("the reason for no intervals is said %d times, or they have a column", n)
	}
}

// TestJSONKeepsItsShape pins what programs rely on: the fields that were there
// come first and in order, and what is new is left out where it is not known.
func TestJSONKeepsItsShape(t *testing.T) {
	keys := func(run *result.Run) []string {
		var b bytes.Buffer
		if err := JSON(&b, run); err != nil {
			t.Fatal(err)
		}
		d := json.NewDecoder(&b)
		var out []string
		depth := 0
		for key := true; ; {
			token, err := d.Token()
			if err != nil {
				return out
			}
			switch v := token.(type) {
			case json.Delim:
				if v == '{' || v == '[' {
					depth++
				} else {
					depth--
				}
				key = depth == 1
				continue
			case string:
				if depth == 1 && key {
					out = append(out, v)
					key = false
					continue
				}
			}
			key = depth == 1
		}
	}
	const added = " format version"
	old := "verdict counters rate histograms result id name driver pattern mode size same_host window_ns interrupted cut_short"
	if got := strings.Join(keys(openRun().make()), " "); got != old+added {
		t.Errorf("a plain run has the fields %s", got)
	}
	if got := strings.Join(keys(richRun()), " "); got != old+" steady attribution objectives floor tail"+added {
		t.Errorf("a rich run has the fields %s", got)
	}
}

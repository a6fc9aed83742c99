package report

import (
	"bytes"
	"strings"
	"testing"

	"sixnines/result"
)

// What each copy has, and why one was not asked, stands in every report.
func TestCopiesAreReported(t *testing.T) {
	run := openRun().make()
	acked := run.Counters.Acked
	run.ReadBack = &result.ReadBack{Outcome: result.ReadBackDone, Read: acked, Places: []result.ReadPlace{
		{Topic: "t0", Log: true, Until: "position", Copy: "leader", Messages: acked, Replicas: []result.ReadReplica{
			{Name: "broker 1", Leader: true, Answer: result.ReplicaContents, Has: acked},
			{Name: "broker 2", Answer: result.ReplicaContents, Has: acked - 234, Behind: 234},
			{Name: "broker 3", NotAskable: result.NotAskableNoAnswer, Error: "connection refused"},
		}},
		{Topic: "t1", Until: "count", Copy: "leader", NotAskable: result.NotAskableLeaderOnly},
	}}
	run.Summary.ReadBack = run.ReadBack
	var screen, terminal, markdown, page, object bytes.Buffer
	for _, err := range []error{
		Terminal(&screen, []*result.Run{run}, Options{Width: 200}),
		Terminal(&terminal, []*result.Run{run}, Options{Width: 200, Full: true}),
		writeMarkdown(&markdown, []*result.Run{run}),
		HTML(&page, []*result.Run{run}, Options{}),
		JSON(&object, run),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, x := range []struct {
		name, out string
		want      []string
	}{
		{"screen", screen.String(), []string{"2 asked, 1 could not be", "234 at broker 2", "leader only"}},
		{"terminal", terminal.String(), []string{"2 asked, 1 could not be", "broker 1 (leader)", "234", "not askable: no answer", "connection refused"}},
		{"Markdown", markdown.String(), []string{"broker 1 (leader)", "234", "not askable: no answer", "connection refused"}},
		{"page", page.String(), []string{"2 asked, 1 could not be", "broker 1 (leader)", "not askable: no answer", "connection refused", "leader only"}},
		{"JSON", object.String(), []string{`"not_askable":"no answer"`, `"not_askable":"leader only"`, `"behind":234`}},
	} {
		for _, want := range x.want {
			if !strings.Contains(strings.ReplaceAll(x.out, `": `, `":`), want) {
				t.Errorf("the %s does not say %q:\n%s", x.name, want, x.out[:min(len(x.out), 4000)])
			}
		}
	}
}

// Messages that were delivered and are gone from the log are lost in every output.
func TestGoneFromTheLogIsLost(t *testing.T) {
	x := openRun()
	x.acked = true
	run, whole := x.make(), x.make()
	acked := run.Counters.Acked
	for r, gone := range map[*result.Run]int64{run: 4000, whole: 0} {
		r.ReadBack = &result.ReadBack{Outcome: result.ReadBackDone, Read: acked - gone, Whole: true, InLog: acked - gone, NotInLog: gone}
		r.Summary.ReadBack = r.ReadBack
	}
	whole.Header.ID = "1111111111111111"
	words := func(text string) string { return strings.Join(strings.Fields(text), " ") }
	screen := func(runs ...*result.Run) string { return words(screenText(t, Options{Width: 200}, runs...)) }
	var markdown bytes.Buffer
	if err := writeMarkdown(&markdown, []*result.Run{run}); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"screen":   screen(run),
		"all":      words(terminal(t, Options{Width: 200}, run)),
		"several":  screen(run, whole),
		"Markdown": words(markdown.String()),
	} {
		want := "4,000 lost although acknowledged"
		if name == "all" || name == "Markdown" {
			want = "gone from the log"
		}
		for _, wrong := range []string{"none lost, duplicated", "lost although acknowledged 0", "lost although acknowledged | 0", "A B: nothing lost"} {
			if strings.Contains(text, wrong) {
				t.Errorf("the %s says %q", name, wrong)
			}
		}
		if !strings.Contains(text, want) {
			t.Errorf("the %s does not say %q:\n%.3000s", name, want, text)
		}
	}
	if text := screen(whole); !strings.Contains(text, "none lost, duplicated") || !strings.Contains(text, "lost although acknowledged 0") {
		t.Errorf("nothing is lost:\n%s", text)
	}
	if text := screen(run, whole); !strings.Contains(text, "B: nothing lost") {
		t.Errorf("of the second nothing is lost:\n%s", text)
	}
	families := exposed(t, run, whole)
	for _, name := range []string{"sixnines_lost_acked_at_least", "sixnines_lost_acked_at_most"} {
		got := map[string]float64{}
		for _, s := range families[name].GetMetric() {
			got[labels(s)["run"]] = s.GetGauge().GetValue()
		}
		if len(got) != 2 || got[run.Header.ID] != 4000 || got[whole.Header.ID] != 0 {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// Without consumers and without reading back it is not known that nothing is lost.
func TestNothingIsLostOnlyIfThatIsKnown(t *testing.T) {
	x := openRun()
	x.acked = true
	runs := []*result.Run{x.make(), x.make()}
	for _, r := range runs {
		c := &r.Summary.Counters
		c.Expected, c.Received = 0, 0
		r.Counters = *c
	}
	if text := screenText(t, Options{Width: 200}, runs...); strings.Contains(text, "nothing lost") {
		t.Errorf("nobody received them:\n%s", text)
	}
}

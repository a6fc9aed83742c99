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

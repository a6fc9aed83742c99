package report

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"sixnines/result"
)

func TestTailOfTheUnresolved(t *testing.T) {
	run := openRun().make()
	run.Tail = []result.Exemplar{{Metric: result.DeliveryResponse, Value: 2e9, Consumer: 1, Partition: -1, Topic: "t", Sequence: 9, Intended: 1e9, Sent: -1, Done: 3e9}}
	x := tailTables(subjectOf(run))
	if len(x) != 1 || x[0].Rows[0].Cells[0].Text != "≥ 2.00 s" || slices.Contains(textsOf(x[0].Rows[0].Cells), "-0.000000 s") {
		t.Errorf("a message that was given up is shown as %+v", x)
	}
	var b bytes.Buffer
	if err := writeTailCSV(&b, []*result.Run{run}); err != nil {
		t.Fatal(err)
	}
	if want := "nats-20k,delivery.response,2000000000,0,1,t,,9,1000000000,,3000000000,,at-least,\n"; !strings.HasSuffix(b.String(), want) {
		t.Errorf("and written as %q", b.String())
	}
}

func TestMetBy(t *testing.T) {
	run := &result.Run{
		Events: []result.Event{{At: 50, Kind: "stall"}, {At: 99, Kind: "stall"}, {At: 100, Kind: "late"}, {At: 9, Kind: "early"}},
		Pauses: []result.Pause{
			{Start: 0, End: 30, Source: result.PauseProcess},    // 20 of it within
			{Start: 20, End: 40, Source: result.PauseProcess},   // overlaps the first: 10 more
			{Start: 22, End: 25, Source: result.PauseProcess},   // adds nothing
			{Start: 10, End: 90, Source: result.PauseIdle},      // more than the process
			{Start: 0, End: 100, Source: result.PauseSteal},     // a counter's stretch: no length
			{Start: 90, End: 200, Source: result.PauseSwap},     // begins when all is over
			{Start: 0, End: 10, Source: result.PauseRetransmit}, // ends before it begins
		},
	}
	got := metBy(run, result.Exemplar{Intended: 10, Done: 90}, plain)
	if want := []string{"stall", "idle 80 ns", "process 30 ns", "steal"}; !slices.Equal(got, want) {
		t.Errorf("met %q, want %q", got, want)
	}
	if got := foremost([]string{"a", "b", "c", "d"}); got != "a, b +2" {
		t.Errorf("foremost is %q", got)
	}
	if got := foremost(nil); got != "" {
		t.Errorf("foremost of nothing is %q", got)
	}
}

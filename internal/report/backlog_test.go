package report

import (
	"bytes"
	"strings"
	"testing"

	"sixnines/result"
)

// keptRun is a made-up run of 1,000 messages that were drained when all were sent.
func keptRun() *result.Run {
	r := &result.Run{Header: result.Header{ID: "cc33cc33cc33cc33", Name: "filled", Driver: "jetstream", Pattern: "deliver", Mode: result.ModeFlatOut,
		ConsumersFrom: "filled"}}
	point := func(phase string, from, to, sent, received, depth int64) {
		p := result.Point{Phase: phase, Start: from * 1e6, End: to * 1e6, Counters: result.Counters{Sent: sent, Expected: sent, Received: received}}
		if depth >= 0 {
			p.Depth = &result.Depth{At: p.End, Messages: depth, Unacknowledged: true}
		}
		r.Series = append(r.Series, p)
		r.Counters.Add(p.Counters)
	}
	point(result.PhaseMeasure, 0, 100, 700, 0, 650)
	point(result.PhaseMeasure, 100, 150, 300, 0, -1)
	point(result.PhaseDrain, 150, 250, 0, 400, 610)
	point(result.PhaseDrain, 250, 400, 0, 600, 0)
	r.Events = []result.Event{{At: 150e6, Kind: result.EventConsumers, Count: 1}}
	r.Summary = &result.Summary{Counters: r.Counters, End: 150e6, Resolved: 390e6, Backlog: &result.Backlog{From: 150e6, Filled: 1000, FillRate: 6667, Peak: 1000, PeakAt: 150e6,
		Gone: 390e6, Drained: 1000, DrainRate: 4167, Depth: result.DepthUnacknowledged, Steps: []result.BacklogStep{
			{End: 100e6, Sent: 7000, Backlog: 700, Depth: 650}, {End: 150e6, Sent: 6000, Backlog: 1000, Depth: -1},
			{End: 250e6, Received: 4000, Backlog: 600, Depth: 610}, {End: 400e6, Received: 4000}}}}
	return r
}

func TestKeptIsShown(t *testing.T) {
	var text bytes.Buffer
	if err := Terminal(&text, []*result.Run{keptRun()}, Options{Full: true}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"fill 6,667/s", "peak 1,000 waiting", "drain 4,167/s", "gone after 240 ms", "broker: not acknowledged", "250 ms", "610"} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("%q is missing from\n%s", want, text.String())
		}
	}
	left := keptRun()
	left.Summary.Backlog.Gone, left.Summary.Backlog.Left = 0, 17
	text.Reset()
	if err := Terminal(&text, []*result.Run{left}, Options{Full: true}); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(text.String(), "not gone 17 left") {
		t.Errorf("what is left is missing from\n%s", text.String())
	}
	c, err := chartOf([]*result.Run{keptRun()}, kindBacklog)
	if err != nil {
		t.Fatal(err)
	}
	if len(c.Lines) != 2 || c.Lines[0].Y[1] != 1000 || c.Lines[0].Y[3] != 0 || c.Lines[1].Y[2] != 610 {
		t.Errorf("%+v", c.Lines)
	}
	rates, err := chartOf([]*result.Run{keptRun()}, kindRate)
	if err != nil {
		t.Fatal(err)
	}
	if n := len(rates.Lines[0].X); n != 4 {
		t.Errorf("the rate has %d points, want those of the drain too", n)
	}
}

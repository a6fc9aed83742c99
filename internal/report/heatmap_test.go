package report

import (
	"fmt"
	"strings"
	"testing"

	"sixnines/internal/sweep"
	"sixnines/result"
)

// A map has a cell for each combination, numbers in colours that grow with them, and
// where there is none a mark and no colour.
func TestHeatMaps(t *testing.T) {
	s := swept(t, "size=256B,1KiB", "rate=8k/s,1k/s,2k/s,4k/s")
	maps, why := sweepHeat(s.Table)
	if len(maps) != 4 || why != "" {
		t.Fatalf("%d maps, %q", len(maps), why)
	}
	achieved, p99 := maps[0], maps[2]
	if got := fmt.Sprint(p99.Rows, p99.Columns); got != "[1KiB 256B] [1,000/s 2,000/s 4,000/s 8,000/s]" {
		t.Errorf("rows and columns are %s", got)
	}
	// Of both sizes the last value that was given, 4k/s, is UNSTABLE in half of the
	// rounds; of 256B at 1k/s a round is INVALID.
	for _, row := range []int{0, 1} {
		if c := p99.Cells[row][2]; c.Value != 0 || c.State != heatOverloaded {
			t.Errorf("p99 of row %d at 4,000/s: %+v", row, c)
		}
		if c := achieved.Cells[row][2]; c.Value == 0 || c.State != heatOverloaded {
			t.Errorf("achieved of row %d at 4,000/s: %+v", row, c)
		}
	}
	if c := p99.Cells[1][0]; !c.Partly || c.Text != "400 µs" || !strings.Contains(c.Title, "size=256B rate=1,000/s: p99 400 µs, INVALID 1 of 2") {
		t.Errorf("%+v", c)
	}
	if low, high := p99.step(2e5), p99.step(1.4e6); low >= high || p99.step(1e3) != 0 || p99.step(1e12) != heatSteps-1 {
		t.Errorf("colours from %d to %d", low, high)
	}
	drawn := drawHeat(p99)
	if n := strings.Count(drawn, `<rect class="h`) - heatSteps; n != 6 {
		t.Errorf("%d cells have a colour, want 6", n)
	}
	if n := strings.Count(drawn, `fill="url(#svg-heat-99-u)"`) - 1; n != 2 {
		t.Errorf("%d cells are hatched, want 2", n)
	}
	if !strings.Contains(p99.Alt, "UNSTABLE in 2 cells") || !strings.Contains(p99.Alt, "least: size=256B rate=8,000/s: p99 200 µs") {
		t.Errorf("in words: %s", p99.Alt)
	}
}

// What was refused, is INVALID or was not made is told apart.
func TestHeatStates(t *testing.T) {
	s := swept(t, "size=256B,1KiB", "rate=1k/s,2k/s,3k/s")
	for i, figure := range []sweep.Figure{{Missing: "refused"}, {Missing: "unsupported"}} {
		for k := range s.Rows[i].Runs {
			o := &s.Rows[i].Runs[k]
			o.Status, o.Figures = result.Valid, map[result.Percentile]sweep.Figure{"50": figure, "99": figure, "99.9": figure}
		}
	}
	for k := range s.Rows[3].Runs {
		s.Rows[3].Runs[k].Status = result.Invalid
	}
	outcomes := map[int][]sweep.Outcome{0: s.Rows[0].Runs, 1: s.Rows[1].Runs, 2: s.Rows[2].Runs, 3: s.Rows[3].Runs}
	s.Table = sweep.NewTable(sweep.Grid{Axes: s.Axes}, 2, outcomes)
	maps, _ := sweepHeat(s.Table)
	var states []heatState
	for _, row := range maps[1].Cells {
		for _, c := range row {
			states = append(states, c.State)
		}
	}
	if got := fmt.Sprint(states); got != "[INVALID no figure no figure refused no figure ]" {
		t.Error(got)
	}
	drawn := drawHeat(maps[1])
	for _, want := range []string{`-r)" x=`, `class="cross"`, ">INVALID<", ">refused<", ">no figure<"} {
		if !strings.Contains(drawn, want) {
			t.Errorf("%q is missing", want)
		}
	}
	if n := strings.Count(drawn, `<rect class="h`) - heatSteps; n != 1 {
		t.Errorf("%d cells have a colour, and one has a number", n)
	}
	delete(outcomes, 2)
	s.Table = sweep.NewTable(sweep.Grid{Axes: s.Axes}, 2, outcomes)
	if maps, _ := sweepHeat(s.Table); len(maps) != 1 { // the rate
		t.Errorf("%d maps of which one has a number", len(maps))
	}
}

// A long name of the rows stands above them, not beside, where it has no room.
func TestHeatNames(t *testing.T) {
	for axis, lying := range map[string]bool{"size": false, "workload.consumer.work": true} {
		maps, _ := sweepHeat(swept(t, axis+"="+map[bool]string{false: "256B,1KiB", true: "1ms,2ms"}[lying], "rate=1k/s,2k/s").Table)
		if got := maps[0].layout().lying; got != lying || strings.Contains(drawHeat(maps[0]), "rotate(-90)") == lying {
			t.Errorf("%s: %t", axis, got)
		}
	}
}

// Maps are of two axes; what is too fine for them is said.
func TestHeatPlane(t *testing.T) {
	for _, tt := range []struct {
		axes []string
		maps int
		why  string
	}{
		{[]string{"rate=1k/s,2k/s"}, 0, ""},
		{[]string{"rate=1k/s,2k/s", "size=256B"}, 0, ""},
		{[]string{"rate=1k/s,2k/s", "size=256B,1KiB", "topics=1"}, 4, ""},
		{[]string{"rate=1k/s,2k/s", "size=256B,1KiB", "topics=1,2"}, 0, ""},
		{[]string{"pattern=publish,deliver", "loop=open,closed"}, 4, ""},
		{[]string{"rate=1k/s,2k/s", "producers=1..100:lin:100"}, 0, "No heat maps: an axis has more than 60 values."},
	} {
		maps, why := sweepHeat(swept(t, tt.axes...).Table)
		if len(maps) != tt.maps || why != tt.why {
			t.Errorf("%v: %d maps, %q", tt.axes, len(maps), why)
		}
	}
}

// Narrow cells have no numbers, and wide maps have the page's width.
func TestHeatRoom(t *testing.T) {
	maps, _ := sweepHeat(swept(t, "producers=1..40:lin:40", "size=256B,1KiB").Table)
	if h := maps[2]; h.small() || h.numbered() || !strings.Contains(h.Caption, "too narrow") || strings.Contains(drawHeat(h), `text-anchor="middle" class`) {
		t.Errorf("%+v", h.layout())
	}
	maps, _ = sweepHeat(swept(t, "producers=1,2", "size=256B,1KiB").Table)
	if h := maps[2]; !h.small() || !h.numbered() {
		t.Errorf("%+v", h.layout())
	}
}

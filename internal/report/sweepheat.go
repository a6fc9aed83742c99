package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"sixnines/internal/sweep"
	"sixnines/result"
)

// sweepHeat returns the heat maps of a sweep with two axes of several values: of the
// achieved rate, and of each percentile. Without maps, why says why, if a reader could
// expect them.
func sweepHeat(t *sweep.Table) (maps []*heatmap, why string) {
	across, up := t.Plane()
	switch {
	case across < 0:
		return nil, ""
	case len(t.Axes[across].Values) > mostHeat || len(t.Axes[up].Values) > mostHeat:
		return nil, fmt.Sprintf("No heat maps: an axis has more than %d values.", mostHeat)
	}
	columns, rows := heatOrder(t.Axes[across]), heatOrder(t.Axes[up])
	if _, numbers := t.Axes[up].Numbers(); numbers {
		slices.Reverse(rows) // as on the axis of a chart, the least is at the foot
	}
	at, unlike := map[[2]string]*sweep.Row{}, false
	for i := range t.Rows {
		r := &t.Rows[i]
		place := [2]string{r.Cell[across].Value, r.Cell[up].Value}
		if at[place] == nil {
			at[place] = r
		} else {
			unlike = true
		}
	}
	add := func(key, title, caption string, scale scale, of func(*sweep.Row) heatCell) {
		h := &heatmap{Key: "heat-" + key, Title: title + " over " + plain(t.Axes[across].Name) + " and " + plain(t.Axes[up].Name), Caption: caption,
			Across: plain(t.Axes[across].Name), Up: plain(t.Axes[up].Name), Colours: axis{Scale: scale}}
		for _, c := range columns {
			h.Columns = append(h.Columns, plain(sweep.Coordinate{Value: c}.Text()))
		}
		for _, v := range rows {
			h.Rows = append(h.Rows, plain(sweep.Coordinate{Value: v}.Text()))
			var line []heatCell
			for _, c := range columns {
				cell := heatCell{State: heatNone, Title: "not made"}
				if r := at[[2]string{c, v}]; r != nil {
					cell = of(r)
					verdict, _ := sweepVerdict(r)
					cell.Title = plain(r.Cell.Text()) + ": " + joinNonEmpty(", ", title+" "+cell.Title, verdict)
				}
				line = append(line, cell)
			}
			h.Cells = append(h.Cells, line)
		}
		if !h.fit() {
			return
		}
		if !h.numbered() {
			h.Caption += " The cells are too narrow for numbers; see the table."
		}
		if unlike {
			h.Caption += " If the runs of a cell have different guarantees, the first row of the table is drawn."
		}
		h.Alt = heatAlt(h)
		maps = append(maps, h)
	}
	add("achieved", "Achieved", "Messages per second that were sent in the window (with rate max: carried). Hatched at the bottom: UNSTABLE, the system carried no more than this.", logRateScale, func(r *sweep.Row) heatCell {
		c := heatFigure(r, r.Achieved, sweepNumber(r.Achieved, rate))
		if c.Value > 0 && r.Unstable() {
			c.State = heatOverloaded
		}
		return c
	})
	for _, p := range sweep.Percentiles() {
		add(string(p), rowName(p), "The median round, as in the table. A cell without a number has no colour.", durationScale, func(r *sweep.Row) heatCell {
			return heatFigure(r, r.Latency[p], sweepFigure(r.Latency[p]))
		})
	}
	return maps, ""
}

// heatFigure is a figure of a row as a cell.
func heatFigure(r *sweep.Row, s sweep.Spread, text string) heatCell {
	c := heatCell{Title: text, Partly: s.Above != "" || r.Count(result.Invalid) > 0}
	switch {
	case s.OK() && s.Value > 0:
		c.Value, c.Text = s.Value, text
		return c
	case s.Missing == sweep.MissingUnstable:
		c.State = heatOverloaded
	case s.Missing == sweep.MissingRefused:
		c.State = heatRefused
	case s.Missing == sweep.MissingInvalid:
		c.State = heatInvalid
	default:
		c.State = heatNone
	}
	c.Partly = false
	return c
}

// heatOrder is the values of an axis: numbers ascending, others as they were given.
func heatOrder(a sweep.Axis) []string {
	values := slices.Clone(a.Values)
	if numbers := a.ByValue(); numbers != nil {
		slices.SortStableFunc(values, func(v, w string) int { return cmp.Compare(numbers[v], numbers[w]) })
	}
	return values
}

// heatAlt describes a map in words: its least and its greatest cell, and the cells without
// a number.
func heatAlt(h *heatmap) string {
	least, most := heatCell{Value: math.Inf(1)}, heatCell{}
	without := map[heatState]int{}
	for _, row := range h.Cells {
		for _, c := range row {
			if c.State != heatNumber {
				without[c.State]++
			}
			if c.Value > 0 && c.Value < least.Value {
				least = c
			}
			if c.Value > most.Value {
				most = c
			}
		}
	}
	text := h.Title + "; least: " + least.Title + "; greatest: " + most.Title
	for _, s := range []heatState{heatOverloaded, heatRefused, heatInvalid, heatNone} {
		if n := without[s]; n > 0 {
			text += fmt.Sprintf("; %s in %s", s, plural(int64(n), "cell"))
		}
	}
	return text
}

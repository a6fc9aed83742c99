package report

import (
	"math"

	"sixnines/result"
)

// keptLines tells how a backlog came and went, nil where consumers were there all
// the time.
func keptLines(s *subject) []entryText {
	k := s.sum.Kept
	if k == nil {
		return nil
	}
	since := "consumers resumed"
	if s.run.Header.ConsumersFrom != "" {
		since = "consumers connected"
	}
	out := []entryText{
		{"fill", rate(k.FillRate), count(k.Filled) + " messages before " + since + " at " + duration(k.From)},
		{"peak", count(k.Peak) + " waiting", "deliveries sent and not yet received, at " + duration(k.PeakAt)},
		{"drain", rate(k.DrainRate), count(k.Drained) + " deliveries"},
	}
	if k.DrainRate == 0 && k.Gone > 0 {
		out[2].Value = "within an interval"
	}
	if k.Gone > 0 {
		return append(out, entryText{"gone after", duration(max(0, k.Gone-k.From)), "from when " + since + " until the backlog was gone"})
	}
	return append(out, entryText{"not gone", count(k.Left) + " left", "deliveries sent and not received at the end"})
}

// keptTable is how a backlog went over time.
func keptTable(s *subject) *table {
	k := s.sum.Kept
	x := &table{Head: heads("r", "until", "sent", "received", "waiting"), Even: true, Fixed: true}
	if k.Depth != "" {
		x.Head = append(x.Head, heads("r", "broker: "+k.Depth)...)
	}
	for _, c := range k.Course {
		r := x.add(duration(c.End), rate(c.Sent), rate(c.Received), count(c.Backlog))
		switch {
		case k.Depth == "":
		case c.Depth >= 0:
			r.Cells = append(r.Cells, cell{Text: count(c.Depth)})
		default:
			r.Cells = append(r.Cells, cell{Text: "–"})
		}
	}
	return x
}

// backlogChart draws what consumers had not got over time, by our count and as the
// broker told it, where they came late or paused.
func backlogChart(subjects []*subject) *chart {
	c := &chart{Kind: KindBacklog, Small: true, Key: "backlog", Title: "Backlog over time",
		X: axis{Scale: secondsScale, Label: "time in the measured window"}, Y: axis{Scale: countScale, Label: "deliveries"},
		Moments: momentsOf(subjects), Until: untilOf(subjects)}
	told := ""
	for i, s := range subjects {
		if s.sum.Kept == nil {
			continue
		}
		spans := timeline(s.run)
		var all result.Counters
		own := timeLine(spans, lineName(s, "sent, not received"), 0, 0, func(sp span) float64 {
			all.Add(sp.Counters)
			return float64(max(0, all.Expected-all.Received-all.Corrupted))
		})
		broker := timeLine(spans, lineName(s, "as the broker reports"), 1, 1, func(sp span) float64 {
			if sp.Depth < 0 {
				return math.NaN()
			}
			return float64(sp.Depth)
		})
		if len(subjects) > 1 {
			own.Colour, broker.Colour = i, i
		}
		c.Lines = append(c.Lines, own)
		if s.sum.Kept.Depth != "" {
			told = s.sum.Kept.Depth
			c.Lines = append(c.Lines, broker)
		}
	}
	if len(c.Lines) == 0 {
		return nil
	}
	c.Caption = "Deliveries that were sent and not yet received at the end of each interval. "
	if told != "" {
		c.Caption += "As the broker reports: messages that it held and that were " + told + ", when it was last asked in the interval, all messages included. "
	}
	c.Caption += momentCaption(c.Moments)
	c.Alt = c.Title + "."
	return c
}

// terminalKept writes how a backlog came and went.
func terminalKept(p *printer, s *subject) {
	lines := keptLines(s)
	if lines == nil {
		return
	}
	p.heading("Backlog", s.of())
	p.joined("  ", pairs(lines), dot, normal)
	if s.letter == "" {
		p.table(keptTable(s), "")
	}
}

package report

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
	x := &table{Head: columnHeads("r", "until", "sent", "received", "waiting"), Even: true, Fixed: true}
	if k.Depth != "" {
		x.Head = append(x.Head, columnHeads("r", "broker: "+k.Depth)...)
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

// keptBlocks say in a terminal how a backlog came and went.
func keptBlocks(s *subject) document {
	lines := keptLines(s)
	if lines == nil {
		return nil
	}
	var out document
	out.list("  ", pairs(lines), normal)
	if s.letter == "" {
		out.add(keptTable(s))
	}
	return document{part{Title: "Backlog", Of: s.of(), Blocks: out}}
}

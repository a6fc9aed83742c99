package report

// backlogLines describes how a backlog grew and shrank; nil if consumers were connected
// all the time.
func backlogLines(s *subject) []entryText {
	k := s.sum.Backlog
	if k == nil {
		return nil
	}
	since := "consumers resumed"
	if s.run.Header.ConsumersFrom != "" {
		since = "consumers connected"
	}
	out := []entryText{
		{"fill", rate(k.FillRate), count(k.Filled) + " messages before " + since + " at " + duration(k.From)},
		{"peak", count(k.Peak) + " waiting", "deliveries sent but not yet received, at " + duration(k.PeakAt)},
		{"drain", rate(k.DrainRate), count(k.Drained) + " deliveries"},
	}
	if k.DrainRate == 0 && k.Gone > 0 {
		out[2].Value = "within an interval"
	}
	if k.Gone > 0 {
		return append(out, entryText{"gone after", duration(max(0, k.Gone-k.From)), "from when " + since + " until the backlog was gone"})
	}
	return append(out, entryText{"not gone", count(k.Left) + " left", "deliveries sent but not received at the end"})
}

// backlogTable returns a backlog over time.
func backlogTable(s *subject) *table {
	k := s.sum.Backlog
	x := &table{Head: columnHeads("r", "until", "sent", "received", "waiting"), Even: true, Fixed: true}
	if k.Depth != "" {
		x.Head = append(x.Head, columnHeads("r", "broker: "+k.Depth)...)
	}
	for _, c := range k.Steps {
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

// backlogBlocks describes for a terminal how a backlog grew and shrank.
func backlogBlocks(s *subject) document {
	lines := backlogLines(s)
	if lines == nil {
		return nil
	}
	var out document
	out.list("  ", pairs(lines), normal)
	if s.letter == "" {
		out.add(backlogTable(s))
	}
	return document{part{Title: "Backlog", Of: s.of(), Blocks: out}}
}

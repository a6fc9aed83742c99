package report

// blocksTable shows the two intervals of each tail percentile side by side; nil if
// nothing was resampled.
func blocksTable(s *subject) *table {
	col := s.column(s.measuredMetric())
	if col == nil {
		return nil
	}
	x := &table{Name: "Uncertainty of the tail: " + metricName(col.Metric), Head: columnHeads("lrrr", "percentile", "figure", "95 %, by messages", "95 %, by stretches"), Explain: true, Column: true, Caption: blocksMeaning}
	for _, f := range col.Figures {
		if !f.ok() || f.Blocks == nil && f.BlocksNA == "" {
			continue
		}
		r := x.add(rowName(f.Percentile), f.text(), f.interval(), f.blocks())
		if f.Blocks == nil {
			r.noted("no interval by stretches: " + f.BlocksNA)
		}
	}
	if len(x.Rows) == 0 {
		return nil
	}
	return x
}

// blocksNotes explains the columns of block intervals on a page, or why its tables have
// no such columns.
func blocksNotes(s *subject) []string {
	x := blocksTable(s)
	if x == nil {
		return nil
	}
	if s.column(s.measuredMetric()).hasBlocks() {
		return []string{"Two intervals of tails. " + blocksMeaning}
	}
	var out []string
	for _, r := range x.Rows {
		for _, n := range r.Notes {
			out = appendNew(out, sentence(n))
		}
	}
	return out
}

// blocksMeaning explains the difference between the two intervals.
const blocksMeaning = "By messages: exact if messages are independent. By stretches: exact for the effective number of independent messages in the run, so a burst counts as one event; if slow messages come in bursts, this interval is the right one, and it is wider. Both describe this run, not the next."

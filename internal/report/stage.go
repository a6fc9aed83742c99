package report

import "sixnines/result"

// stageTable breaks a message's way down into its stages, each with its own
// percentiles; nil where the driver did not let them be seen.
func stageTable(s *subject) *table {
	any := false
	x := &table{Name: "Where the time goes", Head: columnHeads("lrrrrrr", "stage", "p50", "p90", "p99", "p99.9", "max", "messages"),
		Caption: "The stages of a message in order. The time until the send call is the generator's, or that of a blocked send. The time until the socket is the client library's. The time until the answer arrives at this machine is that of kernels, network and broker. The time until it is read is the generator's again, and the rest is the client library's. The last four are measured for a sample of the messages; they are upper bounds if the client writes or reads several messages at a time.",
		After:   []string{"A percentile of the whole is not the sum of its stages' percentiles: the message that is slowest in one stage need not be the slowest in another."}}
	broker := "written → arrived"
	if s.column(result.StageReceive) == nil { // of an older file, or a system that does not tell
		broker = "written → read"
	}
	for _, stage := range []struct {
		metric result.Metric
		name   string
	}{
		{result.LagOwn, "due → sent, own"},
		{result.LagBlocked, "due → sent, blocked"},
		{result.StageClient, "sent → written"},
		{result.StageBroker, broker},
		{result.StageReceive, "arrived → read"},
		{result.StageCallback, "read → callback"},
	} {
		col := s.column(stage.metric)
		if col == nil || col.Dist.Count == 0 {
			continue
		}
		any = any || stage.metric != result.LagOwn && stage.metric != result.LagBlocked
		r := x.add(stage.name)
		for _, p := range []result.Percentile{result.P50, result.P90, result.P99, result.P999, result.Maximum} {
			f, text := col.at(p), "n/a"
			if f.Needs == 0 {
				text = f.text()
			}
			r.Cells = append(r.Cells, cell{Text: text})
		}
		r.Cells = append(r.Cells, cell{Text: count(col.Dist.Count)})
	}
	if !any {
		return nil
	}
	return x
}

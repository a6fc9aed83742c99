package report

import "sixnines/result"

// stageSection breaks a message's way down into its stages, each with its own
// percentiles; nil where the driver did not let them be seen.
func stageSection(s *subject) *section {
	any := false
	x := &section{Name: "Where the time goes", Heads: []string{"stage", "p50", "p90", "p99", "p99.9", "max", "messages"}, Align: "lrrrrrr",
		Caption: "A message's way in the order of its stages. Up to the hand-over it is the generator's or was imposed by a blocked send; to the socket the client library's; from there until the answer has arrived in this machine that of kernels, network and broker; from there until it is read the generator's again; and then the client library's. The last four are of a sample of the messages, and upper bounds where the client writes or reads several at a time.",
		After:   []string{"A percentile of the whole is not the sum of its stages' percentiles: the slowest message of one stage need not be that of another."}}
	broker := "written → arrived"
	if s.column(result.StageReceive) == nil { // of an older file, or a system that does not tell
		broker = "written → read"
	}
	for _, stage := range []struct {
		metric result.Metric
		name   string
	}{
		{result.LagOwn, "due → handed to the client, own"},
		{result.LagBlocked, "due → handed to the client, blocked"},
		{result.StageClient, "handed over → written"},
		{result.StageBroker, broker},
		{result.StageReceive, "arrived → read"},
		{result.StageCallback, "read → callback"},
	} {
		col := s.column(stage.metric)
		if col == nil || col.Dist.Count == 0 {
			continue
		}
		any = any || stage.metric != result.LagOwn && stage.metric != result.LagBlocked
		r := sectionRow{Cells: []string{stage.name}}
		for i, p := range rows() {
			switch p {
			case "50", "90", "99", "99.9", maximum:
				f := col.Figures[i]
				text := f.text()
				if f.Needs > 0 {
					text = "n/a"
				}
				r.Cells = append(r.Cells, text)
			}
		}
		r.Cells = append(r.Cells, count(col.Dist.Count))
		x.Rows = append(x.Rows, r)
	}
	if !any {
		return nil
	}
	return x
}

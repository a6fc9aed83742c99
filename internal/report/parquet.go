package report

import (
	"io"
	"math"

	"sixnines/internal/parquet"
	"sixnines/result"
)

// writeParquet writes what happened over time in long form, one value a row, with the columns
//
//	run, id, started, phase, start_ns, end_ns, series, value
//
// The series are those of [writeTimeCSV]. A percentile of an interval that has too few
// messages for it is null. id is the run's, started the wall clock at the start of its window.
func writeParquet(w io.Writer, runs []*result.Run) error {
	prepared, err := subjects(runs)
	if err != nil {
		return err
	}
	out := parquet.NewWriter(w, parquet.Column{Name: "run"}, parquet.Column{Name: "id"}, parquet.Column{Name: "started", Kind: parquet.Timestamp}, parquet.Column{Name: "phase"},
		parquet.Column{Name: "start_ns", Kind: parquet.Int64}, parquet.Column{Name: "end_ns", Kind: parquet.Int64}, parquet.Column{Name: "series"}, parquet.Column{Name: "value", Kind: parquet.Double})
	for _, s := range prepared {
		id, started := plain(s.run.Header.ID), s.run.Header.Started.UnixMicro()
		for i := range s.run.Series {
			p := &s.run.Series[i]
			phase := plain(p.Phase)
			s.values(p, func(series string, v float64, known bool) {
				if !known || math.IsInf(v, 0) {
					v = math.NaN()
				}
				if err == nil {
					err = out.Row(s.label, id, started, phase, p.Start, p.End, series, v)
				}
			})
		}
	}
	if err != nil {
		return err
	}
	return out.Close()
}

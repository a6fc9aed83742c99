package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"sixnines/internal/gofast"
	"sixnines/internal/study"
	"sixnines/internal/trials"
	"sixnines/internal/vitals"
	"sixnines/result"
)

// benchExt is how files of benchmarks' results end.
const benchExt = ".json"

// benchFile is the result of a benchmark that is a trial of a study.
type benchFile struct {
	Benchmark string        `json:"benchmark"`
	Round     int           `json:"round"`
	Result    gofast.Result `json:"result"`
	Machine   []result.Fact `json:"machine"`
}

// oneBench makes a trial that is a benchmark.
func (s *studyRuns) oneBench(turn *trials.Turn, b study.Bench, where string) (trials.State, error) {
	c := s.cellOf(turn.Trial)
	if s.stops.ending() {
		return trials.Planned, nil
	}
	s.note("%s: %s, round %d", where, c.Name, turn.Trial.Round)
	r, err := b.Run(c.Takes)
	if err != nil {
		s.note("%s: %s", where, oneLine(err.Error()))
		return trials.Failed, err
	}
	f := benchFile{Benchmark: b.Name, Round: turn.Trial.Round, Result: r, Machine: each(vitals.Fingerprint(), func(x vitals.Fact) result.Fact { return result.Fact(x) })}
	text, err := json.Marshal(f)
	if err == nil {
		err = os.WriteFile(turn.Path, append(text, '\n'), 0o666)
	}
	if err != nil {
		return trials.Failed, failed(fileHint(err), fmt.Errorf("write the benchmark's result: %w", err))
	}
	s.keepBench(turn.Number-1, &f)
	return trials.Made, nil
}

// keepBench keeps the result of a benchmark.
func (s *studyRuns) keepBench(trial int, f *benchFile) {
	s.made[trial] = study.TrialOutcome{Round: s.Trials[trial].Round, File: s.Trials[trial].File, Bench: &f.Result}
	s.machine = f.Machine
}

// loadBenches loads the results of earlier benchmarks. A benchmark whose file is damaged is
// made again.
func (s *studyRuns) loadBenches() error {
	for i, t := range s.Trials {
		if _, ok := s.cellOf(t).Bench(); !ok || t.State != trials.Made {
			continue
		}
		file := filepath.Join(s.dir, t.File)
		text, err := os.ReadFile(s.path(file))
		var f benchFile
		if err == nil {
			err = json.Unmarshal(text, &f)
		}
		switch {
		case err == nil && f.Result.N > 0:
			s.keepBench(i, &f)
		case err == nil || !errors.As(err, new(*fs.PathError)) || errors.Is(err, fs.ErrNotExist):
			s.note("%s is damaged; its run is repeated", file)
			if err := s.Again(i); err != nil {
				return err
			}
		default:
			return failed("check the file and its permissions", err)
		}
	}
	return nil
}

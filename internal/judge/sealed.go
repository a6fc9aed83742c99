package judge

import (
	"slices"

	"sixnines/internal/spell"
	"sixnines/result"
)

// Altered says how the seal shows that a result, or a workload of it, is no longer what was written; empty: it does not, or
// the version that wrote it made no seals. The run must have been read from its file: a run that this process has made has its
// seal in the file only.
func Altered(run *result.Run) string {
	for _, part := range run.Parts() {
		if found := sealed(part); len(found) > 0 {
			return found[0].String()
		}
	}
	return ""
}

// RefuseAltered makes all workloads of an altered result INVALID, in memory, so that nothing is decided by any of them: which
// line was changed does not tell which figures were. It returns what [Altered] says.
func RefuseAltered(run *result.Run) string {
	how := Altered(run)
	if how == "" {
		return ""
	}
	r := worded(result.Reason{Status: result.Invalid, Code: result.ReasonAltered, Found: "the file was changed after it was written (" + how + ")", Means: "its figures are not those of the run"})
	for _, part := range run.Parts() {
		if s := part.Summary; s != nil {
			s.Verdict.Status, s.Verdict.ValidTo = result.Invalid, ""
			s.Verdict.Reasons = slices.Insert(s.Verdict.Reasons, 0, r)
		}
	}
	return how
}

// sealed compares the seal of a run's summary with the lines that were read. The lines of a
// run that no Reader has read are not compared.
func sealed(run *result.Run) (found []Problem) {
	s := run.Summary
	switch {
	case s == nil:
		return nil
	case s.Seal == nil && run.Header.Sealed && run.Path != "":
		return []Problem{{"seal", "the header says that the summary has one, and it is not there"}}
	case s.Seal != nil && !run.Header.Sealed:
		return []Problem{{"header.sealed", "it is not there, and the summary has a seal"}}
	case s.Seal == nil || run.Counted == nil:
		return nil
	}
	for _, of := range []struct {
		name         string
		sealed, read result.SealedLines
	}{
		{"headers", s.Seal.Headers, run.Counted.Headers},
		{"intervals", s.Seal.Intervals, run.Counted.Intervals},
		{"events", s.Seal.Events, run.Counted.Events},
		{"summaries", s.Seal.Summaries, run.Counted.Summaries},
	} {
		if n, m := of.sealed.Lines, of.read.Lines; n != m {
			found = append(found, Problem{of.name, "by the seal " + spell.Plural(n, "line") + " of this kind came before it, and the file has " + spell.Count(m)})
		} else if of.sealed.CRC32C != of.read.CRC32C {
			found = append(found, Problem{of.name, "by the seal these lines were changed after they had been written"})
		}
	}
	if len(found) == 0 && s.Seal.SHA256 != run.Counted.SHA256 {
		found = append(found, Problem{"file", "by the seal it was changed after it had been written: lines changed their places, or the summary is another"})
	}
	return found
}

package judge

import (
	"fmt"
	"strings"

	"sixnines/internal/spell"
	"sixnines/result"
)

// Together combines the outcomes of an objective in several runs of one load: it is met if
// it was met in every planned run, and missed if it was missed in any. Runs are not pooled:
// each has to show it by itself. found has the objectives of each run that was made, in the
// order of the runs, as its summary has them; nil for a run without a summary.
func Together(text string, found [][]result.Objective, planned int) result.Objective {
	counts := map[Outcome]int{}
	first := map[Outcome]string{}
	for i, objectives := range found {
		outcome, why := Meaningless, "the result does not contain it"
		if objectives == nil {
			why = cutShortText
		}
		for _, o := range objectives {
			if o.Text == text {
				outcome, why = Outcome(o.Outcome), o.Found
			}
		}
		if counts[outcome]++; counts[outcome] == 1 {
			first[outcome] = fmt.Sprintf("run %d: %s", i+1, why)
		}
	}
	made := len(found)
	for _, outcome := range []Outcome{Missed, Meaningless, Undecided} {
		if n := counts[outcome]; n > 0 {
			return result.Objective{Text: text, Outcome: string(outcome), Found: fmt.Sprintf("in %s of %s (%s)", spell.Count(n), spell.Plural(int64(made), "run"), first[outcome])}
		}
	}
	if made < planned {
		return result.Objective{Text: text, Outcome: string(Undecided), Found: fmt.Sprintf("met in %s, but %s were planned", spell.Plural(int64(made), "run"), spell.Count(planned))}
	}
	if made == 1 {
		return result.Objective{Text: text, Outcome: string(Met), Found: strings.TrimPrefix(first[Met], "run 1: ")}
	}
	return result.Objective{Text: text, Outcome: string(Met), Found: fmt.Sprintf("in each of %s", spell.Plural(int64(made), "run"))}
}

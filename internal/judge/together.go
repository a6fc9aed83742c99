package judge

import (
	"fmt"
	"slices"
	"strings"

	"sixnines/internal/spell"
	"sixnines/result"
)

// Shown is what one run of several shows.
type Shown struct {
	Objectives []result.Objective // as its summary has them; nil: it has no summary
	Attempts   []result.Attempt   // the earlier ones at the run
}

// Together combines the outcomes of an objective in several runs of one load: it is met if
// it was met in every planned run, and missed if it was missed in any. Runs are not pooled:
// each has to show it by itself. found has each run that was made, in the order of the runs.
// That runs were made again is said: whoever chose to may have seen what the first attempts showed.
func Together(text string, found []Shown, planned int) result.Objective {
	counts := map[Outcome]int{}
	first := map[Outcome]string{}
	again, which := 0, ""
	for i, run := range found {
		outcome, why := Meaningless, "the result does not contain it"
		if run.Objectives == nil {
			why = cutShortText
		}
		if len(run.Attempts) > 0 {
			if again++; again == 1 {
				which = fmt.Sprintf("run %d %s", i+1, Again(run.Attempts))
			}
		}
		for _, o := range run.Objectives {
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
	met := fmt.Sprintf("in each of %s", spell.Plural(int64(made), "run"))
	if made == 1 {
		met = strings.TrimPrefix(first[Met], "run 1: ")
	}
	if again > 1 {
		which += fmt.Sprintf(", as %s more", map[bool]string{true: "was one", false: "were " + spell.Count(again-1)}[again == 2])
	}
	if again > 0 {
		met += "; " + which
	}
	return result.Objective{Text: text, Outcome: string(Met), Found: met}
}

// Again says of a run that it was made again, and why. It is empty without attempts.
func Again(attempts []result.Attempt) string {
	if len(attempts) == 0 {
		return ""
	}
	last := attempts[len(attempts)-1]
	how := "was ended early"
	switch last.Ending {
	case result.AttemptFailed:
		how = "failed"
	case result.AttemptKilled:
		how = "was killed"
	case result.AttemptStopped:
		how = "was stopped ahead of its window"
	case result.AttemptLost:
		how = "lost its file"
	case result.AttemptPartner:
		how = "lost the other run of its pair"
	}
	text := "was made again: it " + how + " before"
	if n := len(attempts); n > 1 {
		text = fmt.Sprintf("was made again %s times: the last attempt before it ", spell.Count(n)) + how
	}
	if last.Error != "" {
		text += " (" + last.Error + ")"
	}
	return text
}

// Chosen reports whether somebody may have ended an attempt, or removed its result, because of what it showed: it was
// stopped, ended early or killed, or lost its file. A run that fails chooses nothing, and neither does the partner of another.
func Chosen(attempts []result.Attempt) bool {
	return slices.ContainsFunc(attempts, func(a result.Attempt) bool {
		return a.Ending != result.AttemptFailed && a.Ending != result.AttemptPartner
	})
}

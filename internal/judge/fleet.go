package judge

import (
	"fmt"
	"strings"

	"sixnines/internal/spell"
	"sixnines/result"
)

// agentsLost: the results of some agents end in mid-run. From then on the system had another load than
// the scenario's.
func agentsLost(e *evidence) []result.Reason {
	f := e.run.Header.Fleet
	if f == nil {
		return nil
	}
	var lost []string
	for _, a := range f.Agents {
		if a.Lost {
			lost = append(lost, a.Name)
		}
	}
	if len(lost) == 0 {
		return nil
	}
	return single(result.Reason{Status: result.Suspect, Code: result.ReasonAgentLost,
		Found: fmt.Sprintf("of %s %s did not finish: %s", spell.Plural(int64(len(f.Agents)), "agent"), spell.Count(int64(len(lost))), strings.Join(lost, ", ")),
		Means: "what their segments had due from then on was not sent, and the system under test had less load"})
}

// agentsInvalid: an agent's own result is invalid. Its figures are part of those of the whole, in which they
// need not show.
func agentsInvalid(e *evidence) []result.Reason {
	f := e.run.Header.Fleet
	if f == nil {
		return nil
	}
	var invalid []string
	for _, a := range f.Agents {
		if a.Status == result.Invalid {
			invalid = append(invalid, a.Name+" ("+codesOf(a.Codes)+")")
		}
	}
	if len(invalid) == 0 {
		return nil
	}
	return single(result.Reason{Status: result.Suspect, Code: result.ReasonAgent,
		Found: "alone, the results of these agents are INVALID: " + strings.Join(invalid, ", "),
		Means: "their messages are among those of the whole"})
}

// codesOf lists codes of reasons.
func codesOf(all []result.ReasonCode) string {
	var names []string
	for _, c := range all {
		names = append(names, string(c))
	}
	return strings.Join(names, ", ")
}

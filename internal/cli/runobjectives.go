package cli

import (
	"fmt"
	"strings"

	"sixnines/driver"
	"sixnines/internal/judge"
	"sixnines/result"
	"sixnines/scenario"
)

// checkObjectives refuses objectives, and an until, about figures that the driver does not
// have. The scenario itself refuses those that the load does not have.
func checkObjectives(s *scenario.Scenario, e driver.Entry) error {
	for i, o := range s.Objectives {
		if err := checkSubject(s, e, o.Subject, fmt.Sprintf("the objective %q", o)); err != nil {
			return placed(err, s, fmt.Sprintf("objectives[%d]", i))
		}
	}
	return checkSubject(s, e, s.Phases.Until.Metric, fmt.Sprintf("--until %q", s.Phases.Until))
}

// checkSubject refuses a request about a figure that the driver does not have.
func checkSubject(s *scenario.Scenario, e driver.Entry, subject, asked string) error {
	can := e.With(s.Target.Options)
	what, _, _ := strings.Cut(subject, ".")
	switch {
	case what == "publish" && can.Ack == driver.AckKindNone:
		return wrongUsage("leave it out, or use delivery.response with the pattern deliver",
			"%s: driver %s acknowledges nothing with these options, so no publish is timed", asked, e.Name)
	case what == "publish" && can.Ack == driver.AckKindReply:
		return wrongUsage("use roundtrip.response", "%s: driver %s answers each message, which is timed as a round trip", asked, e.Name)
	case what == "roundtrip" && s.Workload.Pattern == scenario.Publish && can.Ack != driver.AckKindReply:
		return wrongUsage("use publish.response, or choose --pattern roundtrip", "%s: the pattern publish has no round trips", asked)
	}
	return nil
}

// sayObjectives reports which objectives were not met, and why; of names the scenario if
// there are several.
func (env *Env) sayObjectives(of string, all []result.Objective, p passing) {
	pass := "which does not pass"
	if p.allowUndecided {
		pass = "which is allowed"
	}
	for _, o := range all {
		var outcome string
		switch judge.Outcome(o.Outcome) {
		case judge.Met:
			continue
		case judge.Undecided:
			outcome = "undecided, " + pass
		case judge.Meaningless:
			outcome = "without meaning, " + pass
		default:
			outcome = "missed"
		}
		fmt.Fprintln(env.Stderr, env.plainText(oneLine(fmt.Sprintf("objective %s: %s%s: %s", outcome, ofWorkload(of), o.Text, o.Found))))
	}
}

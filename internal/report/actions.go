package report

import (
	"sixnines/internal/judge"
)

// screenActions is the most actions of the first screen.
const screenActions = 3

// stretches returns the stretches of the actions of the run.
func (s *subject) stretches() []judge.Stretch {
	if s.sum == nil {
		return judge.Stretches(s.run, nil)
	}
	return judge.Stretches(s.run, s.sum.Costs)
}

// actionHead returns the heading of an action: what happened, and to whom.
func actionHead(s *judge.Stretch) string { return plain(s.Action.Kind + " " + s.Action.Subject) }

// actionBlocks returns the actions of a run for the first screen, one line each.
func actionBlocks(s *subject) (out document) {
	all := s.stretches()
	if len(s.run.Header.Actions) == 0 {
		return nil // a result of an earlier version, whose events do not say when
	}
	for i := range all {
		if i == screenActions && len(all) > screenActions+1 {
			out.say("  action    ", count(int64(len(all)-i))+" more: --full", normal)
			break
		}
		style := normal
		if !all[i].Happened {
			style = warning
		}
		out.say("  action    ", actionHead(&all[i])+" "+plain(all[i].Line()), style)
		for _, c := range s.sum.Costs {
			if c.Actions[len(c.Actions)-1] == all[i].Number {
				out.say("  cost      ", costLine(s, &c), normal)
			}
		}
	}
	if u := unexplainedWords(s.sum.Unexplained); u != "" {
		out.say("  cost      ", "not explained by any action: "+u, warning)
	}
	return out
}

// actionsTable lists the actions of a run's plan: when each was planned, when it happened, how
// long it lasted and until when it had an effect. It is nil if the plan has no actions.
func actionsTable(s *subject) *table {
	if len(s.run.Header.Actions) == 0 {
		return nil
	}
	x := &table{Name: "Actions", Head: columnHeads("lrrrr", "action", "planned", "happened", "lasted", "felt until"), Even: true,
		Caption: "Planned actions and when they happened, from the start of the window. The effect of an action lasts until everything it changed is as before: the backlog is gone and the connections are restored."}
	for _, a := range s.stretches() {
		planned, happened, lasted, felt := "all sent", "no", "–", "–"
		if !a.Action.Filled {
			planned = duration(a.Action.At)
		}
		if a.Happened {
			happened = duration(a.From)
			if a.Action.For > 0 {
				lasted = duration(a.Over - a.From)
			}
			if a.Explains() != "" {
				felt = duration(a.To)
			}
		}
		x.add(actionHead(&a), planned, happened, lasted, felt)
	}
	return x
}

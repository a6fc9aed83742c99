package compare

import (
	"fmt"

	"sixnines/result"
	"sixnines/scenario"
)

// NotAtOnce says why a load cannot be measured at the same time as another one; the reason is empty if it can.
func NotAtOnce(s *scenario.Scenario) (why string, reason result.DesignReason) {
	switch {
	case len(s.Acts()) > 0 || s.Network != nil:
		reason = result.DesignActions
	case s.Target.Nodes > 1:
		reason = result.DesignClusters
	}
	for _, p := range s.Parts() {
		w := &p.Workload
		switch {
		case reason != "":
		case w.Loop == scenario.Closed || w.Rate.IsMax():
			reason = result.DesignUnscheduled
		case w.Pattern == scenario.Consume || w.Existing != "":
			reason = result.DesignShared
		}
	}
	return Apart(&result.Design{Reason: reason}), reason
}

// Apart says why the runs of pairs are not made at the same time; empty: it was asked for, or is not known.
func Apart(d *result.Design) string {
	if d == nil {
		return ""
	}
	switch d.Reason {
	case result.DesignUse:
		if last := d.Pilot[len(d.Pilot)-1]; last.Known {
			return fmt.Sprintf("in the pilot both sides used %.0f %% of the processors", last.Used*100)
		}
		return "it is not known how much of the processors they use"
	case result.DesignSlowed:
		last := d.Pilot[len(d.Pilot)-1]
		return fmt.Sprintf("in each round of the pilot a side was slower than alone, in the last one by %s (A) and %s (B) at p50", change(last.A), change(last.B))
	case result.DesignNotBoth:
		return "they run alone, and not at once"
	case result.DesignActions:
		return "actions and network conditions of one side would reach the other"
	case result.DesignClusters:
		return "two clusters at once are too much for one machine"
	case result.DesignUnscheduled:
		return "a load without a schedule takes what the other side leaves it"
	case result.DesignShared:
		return "both sides would take the same messages"
	case result.DesignSystem:
		return "how much of the processors both sides use is known on Linux only"
	case result.DesignExport:
		return "metrics and live pages show one run at a time"
	case result.DesignFleet:
		return "a fleet makes one run at a time"
	case result.DesignRounds:
		return "fewer than six rounds compare nothing"
	case result.DesignPartner:
		return "the other one's broker was not here"
	case result.DesignPilot:
		return "a run of the pilot failed"
	case result.DesignRefused:
		return "one of them was refused"
	}
	return ""
}

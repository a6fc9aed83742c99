package result

import "time"

// Design says how the runs of an ab, or of two cells of a study that are compared, are made. It is fixed before the first of
// them.
type Design struct {
	Kind   DesignKind   `json:"kind"`
	Reason DesignReason `json:"reason"`
	// Pilot are the rounds of runs by which it was chosen; none: it was not chosen by runs. Their results are not kept.
	Pilot []PilotRound `json:"pilot,omitempty"`
	// Looks are the numbers of pairs after which the comparison is evaluated, in ascending order. The last one is the
	// most pairs that are made. Several looks share the error probability.
	Looks []int `json:"looks"`
	// Controls is how many pairs have A on both sides.
	Controls int `json:"controls,omitempty"`
	// Slice is how long a side has its turn, in ns, where runs are made in turn; else 0.
	Slice time.Duration `json:"slice_ns,omitempty"`
	// Budget is how long the series may take, in ns; 0: it makes a fixed number of pairs.
	Budget time.Duration `json:"budget_ns,omitempty"`
}

// AtOnce reports whether both runs of a pair are made at the same time.
func (d *Design) AtOnce() bool { return d.Kind == DesignBeside || d.Kind == DesignTurn }

// DesignKind is a way to make the runs of a pair.
type DesignKind string

// The designs.
const (
	DesignBeside DesignKind = "beside" // both at the same time
	DesignTurn   DesignKind = "turn"   // both at the same time, loaded in turn for a slice each
	DesignApart  DesignKind = "apart"  // one after the other, in random order
)

// DesignReason is why a design was chosen.
type DesignReason string

// The reasons: the first is that of any design, the second of [DesignBeside], the third and fourth of [DesignTurn], and all from
// the third on of [DesignApart].
const (
	DesignAsked       DesignReason = "asked"            // by a flag
	DesignUndisturbed DesignReason = "undisturbed"      // the pilot's sides did not disturb each other
	DesignUse         DesignReason = "use"              // in the pilot both sides at once used too much of the processors, or it is not known how much
	DesignSlowed      DesignReason = "slowed"           // in each round of the pilot a side was slower at once with the other one than alone
	DesignNotBoth     DesignReason = "not_both"         // the sides run alone, and cannot run at once
	DesignActions     DesignReason = "actions"          // actions and network conditions reach both sides
	DesignClusters    DesignReason = "clusters"         // two clusters are too much for one machine
	DesignUnscheduled DesignReason = "unscheduled"      // a load without a schedule takes what the other side leaves
	DesignShared      DesignReason = "shared_messages"  // both sides would take the same messages
	DesignSystem      DesignReason = "system"           // how much of the processors is used is known on Linux only
	DesignExport      DesignReason = "metrics_exported" // metrics and live pages show one run at a time
	DesignFleet       DesignReason = "fleet"            // a fleet makes one run at a time
	DesignRounds      DesignReason = "rounds"           // of a study: fewer than six rounds compare nothing
	DesignPartner     DesignReason = "partner"          // of a study: the other side's broker is not here
	DesignPilot       DesignReason = "pilot"            // of a study: a run of the pilot failed, which the trials tell more of
	DesignRefused     DesignReason = "refused"          // of a study: one side was refused, so the other one is made without it
)

// Slices says when a load is due: for On from After on, in each Every of its warm-up and window, in ns. In the rest the
// other run of its pair has its turn.
type Slices struct {
	On    time.Duration `json:"on_ns"`
	Every time.Duration `json:"every_ns"`
	After time.Duration `json:"after_ns"`
}

// PilotRound is a run of each side alone and of both at once.
type PilotRound struct {
	// Used is the share of the processors, 0 to 1, that the generator and both brokers used at once; it means
	// nothing unless Known.
	Used  float64 `json:"used"`
	Known bool    `json:"known"`
	// A and B are the sides' p50 at once with the other side, divided by that alone; 0: unknown.
	A float64 `json:"a"`
	B float64 `json:"b"`
}

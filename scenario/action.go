package scenario

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"sixnines/internal/strict"
)

// Action is something that happens to a subject at an instant of the run's window and may be
// undone later. A valid action has one kind: exactly one of the fields named after kinds is not
// zero. [Actions] lists the properties of each kind.
type Action struct {
	At         Moment  `yaml:"at" doc:"when: a time after the start of the run's window, such as 30s, or filled, when all producers are done; default 0s"`
	Pause      Subject `yaml:"pause,omitempty" doc:"who takes nothing for a time" enum:"consumers"`
	Start      Subject `yaml:"start,omitempty" doc:"who connects only then" enum:"consumers"`
	Stop       Subject `yaml:"stop,omitempty" doc:"who sends nothing from then on" enum:"producers"`
	Disconnect Subject `yaml:"disconnect,omitempty" doc:"whose connections are cut" enum:"producers,consumers,all"`
	Stall      *Nodes  `yaml:"stall,omitempty" doc:"which of the broker's nodes do nothing for a time"`
	Freeze     *Nodes  `yaml:"freeze,omitempty" doc:"the same as stall, for nodes whose absence others should notice"`
	Kill       *Nodes  `yaml:"kill,omitempty" doc:"which of the broker's nodes are killed"`
	Terminate  *Nodes  `yaml:"terminate,omitempty" doc:"which of the broker's nodes are asked to end"`
	Power      *Nodes  `yaml:"power,omitempty" doc:"which of the broker's nodes have a power failure: what they have not synced is gone"`
	// Restart is a kind if it names nodes, and else says when those that another kind ends start again.
	Restart  *Restart `yaml:"restart,omitempty" doc:"how long after kill, terminate or power the nodes are started again, such as 5s; or, without these, which nodes end and are started again"`
	Disk     *Disk    `yaml:"disk,omitempty" doc:"what happens to the disks of the broker's nodes for a time"`
	Corrupt  *Corrupt `yaml:"corrupt,omitempty" doc:"in which files of the broker's nodes bits are turned over"`
	Rolling  *Rolling `yaml:"rolling,omitempty" doc:"which of the broker's nodes are restarted one after the other"`
	Cut      *Cut     `yaml:"cut,omitempty" doc:"which nodes and clients cannot reach each other for a time"`
	Network  *Network `yaml:"network,omitempty" doc:"what the path between clients and brokers is like for a time"`
	Transfer Subject  `yaml:"transfer,omitempty" doc:"whose role moves to another node, in an orderly way" enum:"leader"`
	Exec     *Exec    `yaml:"exec,omitempty" doc:"which commands to run, such as for a broker that sixnines has not started"`
	// Workload names the workload whose producers and consumers are meant; empty: all workloads.
	Workload string        `yaml:"workload,omitempty" doc:"with several workloads: the one it applies to; default all"`
	For      time.Duration `yaml:"for,omitempty" doc:"how long it lasts; then it is undone" min:"1ms" max:"168h"`

	key string // its key in errors; empty: actions[i], by its position in the list
}

// Subject is whom an action happens to.
type Subject string

// The subjects.
const (
	Producers Subject = "producers"
	Consumers Subject = "consumers"
	Everybody Subject = "all"
)

// ActionKind is a kind of action; its text is the key of that kind in YAML.
type ActionKind string

// The kinds.
const (
	ActionPause      ActionKind = "pause"
	ActionStart      ActionKind = "start"
	ActionStop       ActionKind = "stop"
	ActionDisconnect ActionKind = "disconnect"
	ActionStall      ActionKind = "stall"
	ActionFreeze     ActionKind = "freeze"
	ActionKill       ActionKind = "kill"
	ActionTerminate  ActionKind = "terminate"
	ActionRestart    ActionKind = "restart"
	ActionRolling    ActionKind = "rolling"
	ActionCut        ActionKind = "cut"
	ActionNetwork    ActionKind = "network"
	ActionPower      ActionKind = "power"
	ActionDisk       ActionKind = "disk"
	ActionCorrupt    ActionKind = "corrupt"
	ActionTransfer   ActionKind = "transfer"
	ActionExec       ActionKind = "exec"
)

// Explanation is the part of a result that an action explains while its effect lasts: from its
// instant until the state before it is restored.
type Explanation string

// The explanations.
const (
	ExplainsBacklog     Explanation = "backlog"     // messages that wait for consumers, and their latencies
	ExplainsDisconnects Explanation = "disconnects" // connections that are lost and made again
	ExplainsOutage      Explanation = "outage"      // messages that are late, refused or without an answer while nodes are away
)

// Words returns a phrase for a sentence that says what is explained.
func (x Explanation) Words() string {
	switch x {
	case ExplainsBacklog:
		return "the backlog and its latencies, until it is gone"
	case ExplainsDisconnects:
		return "lost connections, and a latency that does not stay level"
	case ExplainsOutage:
		return "late, refused and unanswered messages, lost connections, and a latency that does not stay level"
	}
	return "nothing"
}

// Harm is what can happen to messages because of an action.
type Harm string

// The harms.
const (
	HarmLate       Harm = "late"
	HarmRefused    Harm = "refused"
	HarmUnanswered Harm = "unanswered" // neither answered nor delivered
	HarmLost       Harm = "lost_acked" // lost although they were acknowledged
	HarmDuplicated Harm = "duplicated" // delivered again
	HarmReordered  Harm = "reordered"
)

// Harms lists all harms.
func Harms() []Harm {
	return []Harm{HarmLate, HarmRefused, HarmUnanswered, HarmLost, HarmDuplicated, HarmReordered}
}

// without returns all harms but some.
func without(some ...Harm) []Harm {
	return slices.DeleteFunc(Harms(), func(h Harm) bool { return slices.Contains(some, h) })
}

// Causes returns what the act can do to messages, by its kind and its parameters. What happens
// meanwhile and is not among it has another cause.
func (a *Act) Causes() []Harm {
	if f := a.Properties().causes; f != nil {
		return f(&a.Action)
	}
	return Harms()
}

// ActionProperties describes one kind of action.
type ActionProperties struct {
	Kind      ActionKind
	Run       bool // it happens to what all loads of a run use, and is carried out once; else to the clients of a load
	Lasts     bool // it has a length, For, after which it is undone, unless once says otherwise
	Restarts  bool // it may have Restart, after which the nodes that it ended are started again
	Disks     bool // the nodes' data must be on file systems of their own
	Beside    bool // its nodes may be under another action meanwhile
	Filled    bool // At.Filled is allowed
	Scheduled bool // the schedule contains it, exactly: nothing is carried out at its instant
	Exclusive bool // two of the kind may not overlap for the same workload
	Explains  Explanation
	causes    func(a *Action) []Harm  // what it can do to messages; nil: everything
	Does      string                  // what happens, a sentence
	Undone    string                  // how it is undone, a sentence
	check     func(*validator, *Act)  // reports to the validator why this workload, or this run, cannot have it
	applies   func(w *Workload) bool  // whether a workload has a subject for it; nil: it is of the run
	nodes     func(a *Action) Node    // which of the broker's nodes it happens to; nil: it is not an action on nodes
	written   func(a *Action) Subject // whom it happens to; nil: its nodes
	given     func(a *Action) bool    // whether an action with a value at its key is of the kind; nil: it is
	once      func(a *Action) bool    // whether an action of a kind that lasts has no length all the same; nil: none
}

// Actions lists the properties of all kinds. A kind needs a field in [Action], a row here, and
// code that carries it out: internal/engine/acts.go for those of a load, internal/faults for those of
// the run.
func Actions() []ActionProperties { return append(loadActions(), runActions()...) }

// loadActions are the kinds that happen to the clients of a load.
func loadActions() []ActionProperties {
	return []ActionProperties{
		{Kind: ActionPause, Lasts: true, Exclusive: true, Explains: ExplainsBacklog, check: checkAway, applies: hasConsumers,
			written: func(a *Action) Subject { return a.Pause },
			Does:    "Each consumer's callback blocks when the next message arrives, after that message was time-stamped.",
			Undone:  "Callbacks return."},
		{Kind: ActionStart, Filled: true, Exclusive: true, Explains: ExplainsBacklog, check: checkAway, applies: hasConsumers,
			causes:  func(*Action) []Harm { return without(HarmDuplicated, HarmReordered) },
			written: func(a *Action) Subject { return a.Start },
			Does:    "Consumers connect only then, and receive what the broker has kept. With `at: filled` the load ends with its window.",
			Undone:  "At the end of the run, like that of consumers that connect before it."},
		{Kind: ActionStop, Scheduled: true, Exclusive: true, check: checkStop, applies: hasProducers,
			causes:  func(*Action) []Harm { return nil },
			written: func(a *Action) Subject { return a.Stop },
			Does:    "No message is due after that: the window of the load ends, and no load is sent while the run waits for the last messages.",
			Undone:  "Never: producers that continue later are another workload."},
		{Kind: ActionDisconnect, Explains: ExplainsDisconnects, check: checkDisconnect, applies: func(*Workload) bool { return true },
			causes: func(a *Action) []Harm {
				if a.Disconnect == Producers { // the broker has what it has acknowledged
					return without(HarmLost)
				}
				return Harms()
			},
			written: func(a *Action) Subject { return a.Disconnect },
			Does:    "Connections to the broker are cut, in both directions and at once; the schedule goes on.",
			Undone:  "By the clients, which reconnect in their own time."},
	}
}

// runActions are the kinds that happen to what all loads use: the broker's nodes, and the paths to them.
func runActions() []ActionProperties {
	return []ActionProperties{
		{Kind: ActionStall, Run: true, Lasts: true, Explains: ExplainsOutage, check: checkNodes,
			nodes:  func(a *Action) Node { return a.Stall.Node },
			Does:   "All threads of the nodes' processes are stopped (SIGSTOP); their connections stay open, and data sent to them waits.",
			Undone: "They go on (SIGCONT)."},
		{Kind: ActionFreeze, Run: true, Lasts: true, Explains: ExplainsOutage, check: checkNodes,
			nodes:  func(a *Action) Node { return a.Freeze.Node },
			Does:   "The same as stall.",
			Undone: "They go on (SIGCONT)."},
		{Kind: ActionKill, Run: true, Restarts: true, Explains: ExplainsOutage, check: checkNodes,
			nodes:  func(a *Action) Node { return a.Kill.Node },
			Does:   "The nodes' processes are killed (SIGKILL). File data that they had already written to the kernel is kept.",
			Undone: "With `restart` they are started again after that time, with the same data and addresses; otherwise they stay down."},
		{Kind: ActionTerminate, Run: true, Restarts: true, Explains: ExplainsOutage, check: checkNodes,
			nodes:  func(a *Action) Node { return a.Terminate.Node },
			Does:   "The nodes' processes are asked to end (SIGTERM), and killed if they have not ended after 20 s.",
			Undone: "As after kill."},
		{Kind: ActionRestart, Run: true, Explains: ExplainsOutage, check: checkNodes,
			given:  func(a *Action) bool { return a.Restart.Node != "" },
			nodes:  func(a *Action) Node { return a.Restart.Node },
			Does:   "The nodes' processes are asked to end, as by terminate.",
			Undone: "They are started again as soon as they have ended; with `after`, not before that time has passed."},
		{Kind: ActionRolling, Run: true, Explains: ExplainsOutage, check: checkRolling,
			nodes:  func(a *Action) Node { return a.Rolling.Restart },
			Does:   "Nodes are restarted one after the other, in the order of their numbers. The next one is stopped `pause` after the previous one answers again.",
			Undone: "The action ends when the last node answers again."},
		{Kind: ActionTransfer, Run: true, Explains: ExplainsOutage, check: checkTransfer,
			written: func(a *Action) Subject { return a.Transfer }, nodes: func(*Action) Node { return Leader },
			Does:   "The broker is asked to let another node lead. Nothing fails.",
			Undone: "Never. The action ends when another node leads."},
		{Kind: ActionPower, Run: true, Restarts: true, Disks: true, Explains: ExplainsOutage, check: checkNodes,
			nodes: func(a *Action) Node { return a.Power.Node },
			Does: "The nodes' processes are killed (SIGKILL) and their file systems are shut down (EXT4_IOC_SHUTDOWN), at once for all nodes: what was neither synced nor written back by the kernel is lost. " +
				"Each node's data are on an ext4 file system that was made for the run; the machine itself does not fail.",
			Undone: "With `restart` the file systems are recovered from their journals after that time and the nodes are started again; otherwise they stay down."},
		{Kind: ActionDisk, Run: true, Lasts: true, Disks: true, Explains: ExplainsOutage, check: checkDisk,
			nodes:  func(a *Action) Node { return a.Disk.nodes() },
			Does:   "A file takes all free space on the nodes' file systems, which were made for the run.",
			Undone: "The file is removed."},
		{Kind: ActionCorrupt, Run: true, Beside: true, Explains: ExplainsOutage, check: checkCorrupt,
			nodes:  func(a *Action) Node { return a.Corrupt.Node },
			Does:   "Bits in the nodes' files, chosen by the seed, are flipped, whether the nodes run or not. The event lists them.",
			Undone: "Never: the directory is removed at the end of the run."},
		{Kind: ActionCut, Run: true, Lasts: true, Explains: ExplainsOutage, check: checkCut,
			written: func(a *Action) Subject { return a.Cut.subject() },
			Does:    "Packets between the two sides are dropped and counted, both ways or with `one_way` from the first to the second. The two sides get no error: neither a refusal nor a reset. For such a run each node has a network namespace. All clients can be cut from a broker that sixnines has not started: then a relay holds back what is sent.",
			Undone:  "Packets pass again. TCP retransmits what was lost when its timer expires, which can be about as long after the cut as the cut lasted."},
		{Kind: ActionNetwork, Run: true, Lasts: true, Exclusive: true, Explains: ExplainsOutage, check: checkNetwork,
			causes: func(a *Action) []Harm {
				if a.Network.Resolved().Among() { // leaders may change
					return Harms()
				}
				return without(HarmLost) // clients and brokers have connections that send again what is lost
			},
			written: func(a *Action) Subject { return Subject(a.Network.Words()) },
			Does:    "Packets between the two ends are delayed, lost, reordered or limited to a rate, by the best mechanism that the machine has.",
			Undone:  "Packets pass as before; delayed ones are sent at once."},
		{Kind: ActionExec, Run: true, Lasts: true, Explains: ExplainsOutage, check: checkExec,
			once:    func(a *Action) bool { return len(a.Exec.Undo) == 0 },
			written: func(a *Action) Subject { return a.Exec.Do.subject() },
			Does: "The command `do` is run, without a shell and in a process group of its own. The action begins when the command starts. " +
				"A status other than 0, or `limit`, is a failure of the action. Only scenario files that are named on the command line may have it.",
			Undone: "The command `undo` is run, also after a failure of `do`, and the action is over when it has ended. Without `undo` nothing is undone, and `for` is left out."},
	}
}

// subject is whom an action of the kind happens to.
func (p *ActionProperties) subject(a *Action) Subject {
	if p.written != nil {
		return p.written(a)
	}
	return p.nodes(a).subject()
}

func hasConsumers(w *Workload) bool { return w.Pattern != Publish }
func hasProducers(w *Workload) bool { return w.Pattern != Consume }

// Properties returns the properties of a kind; false: no kind has that name.
func (k ActionKind) Properties() (ActionProperties, bool) {
	all := Actions()
	i := slices.IndexFunc(all, func(p ActionProperties) bool { return p.Kind == k })
	if i < 0 {
		return ActionProperties{}, false
	}
	return all[i], true
}

// kinds returns the kinds whose fields are set: a valid action has exactly one.
func (a *Action) kinds() (given []ActionProperties) {
	for _, p := range Actions() {
		if f, ok := strict.FieldOf(reflect.TypeFor[Action](), string(p.Kind)); ok && !reflect.ValueOf(a).Elem().FieldByIndex(f.Index).IsZero() && (p.given == nil || p.given(a)) {
			given = append(given, p)
		}
	}
	return given
}

// kindNames lists the kinds for errors.
func kindNames() string {
	var names []string
	for _, p := range Actions() {
		names = append(names, string(p.Kind))
	}
	return strings.Join(names, ", ")
}

// String returns the action in YAML's flow style, in one line.
func (a Action) String() string { return flow(encoder{}.mapping(reflect.ValueOf(a), "")) }

// Moment is when an action happens. Its text is a time after the start of the window, such
// as 30s, or "filled": when all producers have sent what they were to send and have been
// answered.
//
// In the record of one of several workloads, an action of the run may have a time before the start
// of that workload's window, such as -5s.
type Moment struct {
	After  time.Duration
	Filled bool
}

// ParseMoment reads when an action happens. Its errors are of type [*Error], without a
// position.
func ParseMoment(s string) (Moment, error) {
	if s == filled {
		return Moment{Filled: true}, nil
	}
	after, before := strings.CutPrefix(s, "-")
	d, err := parseDuration(after)
	if before {
		d = -d
	}
	if err != nil {
		return Moment{}, wrong(quote(s)+" does not say when an action happens", "write a time after the start of the window, such as 30s, or filled")
	}
	return Moment{After: d}, nil
}

// String returns the text that [ParseMoment] reads as m.
func (m Moment) String() string {
	if m.Filled {
		return filled
	}
	if m.After < 0 {
		return "-" + formatDuration(-m.After)
	}
	return formatDuration(m.After)
}

// mostActions is the largest number of actions of a run.
const mostActions = 256

// actions checks each action by itself, that its workload exists and has subjects for it, and the run's acts.
func (v *validator) actions() {
	s := v.s
	before := len(v.errs)
	v.refuse(len(s.Actions) > mostActions, fmt.Sprintf("%d actions, a run has at most %d", len(s.Actions), mostActions), "leave some out", "actions")
	for i := range s.Actions {
		a := &s.Actions[i]
		key := strict.Item(actionsKey, i)
		given := a.kinds()
		switch {
		case len(given) == 0:
			v.fail("an action that does nothing", "give it one of "+kindNames()+", such as {at: 5s, pause: consumers, for: 5s}", key)
			continue
		case len(given) > 1:
			v.fail(fmt.Sprintf("an action with %s and %s", given[0].Kind, given[1].Kind), "write two actions", key)
			continue
		}
		k := given[0]
		lasts := k.Lasts && (k.once == nil || !k.once(a))
		v.refuse(lasts && a.For == 0, "the action "+string(k.Kind)+" does not say how long", "give it for, such as for: 5s", key)
		v.refuse(!lasts && a.For != 0, "the action "+string(k.Kind)+" has no length, but for: "+formatDuration(a.For), "leave for out", strict.Join(key, "for"), key)
		v.refuse(!k.Restarts && a.Restart != nil && k.Kind != ActionRestart, "the action "+string(k.Kind)+" ends no node that could be started again", "leave restart out", strict.Join(key, "restart"), key)
		v.refuse(a.At.Filled && !k.Filled, "the action "+string(k.Kind)+" at: filled", "give a time after the start of the window, such as at: 30s", strict.Join(key, "at"), key)
		v.refuse(a.At.After < 0 || a.At.Filled && a.At.After != 0 || a.For < 0, "an action at an impossible time", "give a time after the start of the window", key)
		if k.Run {
			v.refuse(a.Workload != "", "the action "+string(k.Kind)+" happens to all workloads, and names "+quote(a.Workload), "leave workload out", strict.Join(key, "workload"), key)
			continue
		}
		if a.Workload != "" && !slices.ContainsFunc(s.Workloads, func(w NamedWorkload) bool { return w.Name == a.Workload }) {
			v.fail("there is no workload "+quote(a.Workload), s.workloadsHint(a.Workload), strict.Join(key, "workload"), key)
			continue
		}
		v.concerned(a, k, key)
	}
	if len(v.errs) == before {
		v.runActs()
	}
}

// concerned checks that an action concerns at least one workload, and that none of these
// begins after the action's instant.
func (v *validator) concerned(a *Action, k ActionProperties, key string) {
	s := v.s
	if len(s.Workloads) == 0 {
		return
	}
	none := true
	for i := range s.Workloads {
		w := &s.Workloads[i]
		if !a.concerns(w.Name, &w.Workload, k) {
			continue
		}
		none = false
		v.refuse(!a.At.Filled && a.At.After < w.From, fmt.Sprintf("the action is at %s, and the workload %s begins at %s", a.At, w.Name, formatDuration(w.From)),
			"move the action later, or give it workload: with one that has begun by then", strict.Join(key, "at"), key)
	}
	v.refuse(none, fmt.Sprintf("the action %s: %s, and no workload has any", k.Kind, k.subject(a)), "leave it out", key)
}

const actionsKey = "actions"

// concerns reports whether an action is for a workload.
func (a *Action) concerns(name string, w *Workload, k ActionProperties) bool {
	return k.Run || a.Workload == name && name != "" || a.Workload == "" && (name == "" || k.applies(w))
}

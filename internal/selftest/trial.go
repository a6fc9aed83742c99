package selftest

import (
	"context"
	"time"
)

// Trial is one question put to the tool.
type Trial struct {
	// Number is the trial's place in the list that the tool is held to; parts of
	// one item share it.
	Number   int
	Name     string // as in --only; unique, lower case
	Question string // what it answers, one sentence
	// Takes and TakesShort say about how long the full and the short form take.
	Takes, TakesShort time.Duration
	// Timed says that the outcome depends on this machine keeping its times.
	Timed bool
	// Run makes the trial. It may use b.Dir freely and must end soon after ctx
	// does. An error says that the trial could not be made, which counts as a
	// failure: the tool could not prove itself.
	Run func(ctx context.Context, b *Bench) (*Outcome, error)
}

// All lists the trials in the order in which they run. There is no other
// registry.
func All() []Trial {
	return []Trial{
		{Number: 1, Name: "stall", Question: "Is a stall of the broker in the percentiles, as long as it was and for as many messages as it met?",
			Takes: 18 * time.Second, TakesShort: 6 * time.Second, Timed: true, Run: stallOracle},
		{Number: 2, Name: "freeze", Question: "Does the tool tell a standstill of its own from one of the broker?",
			Takes: 9 * time.Second, TakesShort: 6 * time.Second, Timed: true, Run: selfFreeze},
		{Number: 2, Name: "receive-lag", Question: "Is what lies unread in this machine named as that, with its size, and not as the broker's?",
			Takes: 10 * time.Second, TakesShort: 4 * time.Second, Timed: true, Run: receiveLag},
		{Number: 3, Name: "laws", Question: "Are delays of known distributions reported as they were, message by message and percentile by percentile?",
			Takes: 18 * time.Second, TakesShort: 6 * time.Second, Timed: true, Run: knownLaws},
		{Number: 3, Name: "queue", Question: "Is a queue of which theory knows the latencies reported as theory says?",
			Takes: 23 * time.Second, TakesShort: 8 * time.Second, Timed: true, Run: knownQueues},
		{Number: 3, Name: "intervals", Question: "Do the printed 95 % intervals hold the true quantiles?",
			Takes: 15 * time.Second, TakesShort: time.Second, Run: intervals},
		{Number: 4, Name: "floor", Question: "What does this machine do to messages when no broker does anything?",
			Takes: 26 * time.Second, TakesShort: 3 * time.Second, Timed: true, Run: noiseFloor},
		{Number: 4, Name: "limit", Question: "Up to what rate is this machine's generator in time?",
			Takes: 25 * time.Second, TakesShort: 4 * time.Second, Run: generatorLimits},
		{Number: 5, Name: "conservation", Question: "Are loss, duplication, reordering and corruption counted exactly?",
			Takes: 11 * time.Second, TakesShort: 3 * time.Second, Run: conservation},
		{Number: 5, Name: "lossy", Question: "Is a broker that loses what it never promised told from one that is overloaded?",
			Takes: 11 * time.Second, TakesShort: 5 * time.Second, Timed: true, Run: lossy},
		{Number: 6, Name: "schedule", Question: "Is the schedule kept, and is it noticed where it cannot be?",
			Takes: 10 * time.Second, TakesShort: 6 * time.Second, Timed: true, Run: fidelity},
		{Number: 6, Name: "handover", Question: "Does a connection that blocks cost the others of its thread no more late in a schedule than early?",
			Takes: 8 * time.Second, TakesShort: 5 * time.Second, Timed: true, Run: handover},
		{Number: 7, Name: "little", Question: "Does Little's law hold between what was counted and what was stamped?",
			Takes: 17 * time.Second, TakesShort: 4 * time.Second, Timed: true, Run: littlesLaw},
		{Number: 8, Name: "clock", Question: "Are offset and drift of another clock recovered within the stated bound?",
			Takes: 8 * time.Second, TakesShort: 2 * time.Second, Run: clocks},
		{Number: 9, Name: "interop", Question: "Do exports mean the same elsewhere, and does merging lose nothing?",
			Takes: 2 * time.Second, TakesShort: time.Second, Run: interop},
		{Number: 10, Name: "refusal", Question: "Is a refused message slower than any latency?",
			Takes: 3 * time.Second, TakesShort: 3 * time.Second, Run: refusal},
		{Number: 10, Name: "give-up", Question: "Is a message that was given up bounded by when it was?",
			Takes: 5 * time.Second, TakesShort: 3 * time.Second, Timed: true, Run: giveUp},
		{Number: 10, Name: "accounts", Question: "Is a message found that the tool itself forgets?",
			Takes: 2 * time.Second, TakesShort: 2 * time.Second, Run: forgotten},
	}
}

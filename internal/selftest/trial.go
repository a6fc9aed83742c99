package selftest

import (
	"context"
	"time"
)

// Trial is one question put to the tool.
type Trial struct {
	// Number is the item in the list of requirements on the tool; several trials may
	// share it.
	Number   int
	Name     string // as in --only; unique, lower case
	Question string // the question it answers, one sentence
	// Takes and TakesShort are the approximate durations of the full and the short
	// form.
	Takes, TakesShort time.Duration
	// Timed says that the outcome depends on the timing of this machine.
	Timed bool
	// Run makes the trial. It may use b.Dir freely and must return soon after ctx
	// ends. An error says that the trial could not be made and counts as a failure.
	Run func(ctx context.Context, b *Bench) (*Outcome, error)
}

// All lists the trials in the order in which they run. There is no other
// registry.
func All() []Trial {
	return []Trial{
		{Number: 1, Name: "stall", Question: "Do the percentiles contain a stall of the broker, with its full length and for all messages that it delayed?",
			Takes: 18 * time.Second, TakesShort: 6 * time.Second, Timed: true, Run: stallOracle},
		{Number: 2, Name: "freeze", Question: "Does the tool distinguish a pause of its own from one of the broker?",
			Takes: 9 * time.Second, TakesShort: 6 * time.Second, Timed: true, Run: selfFreeze},
		{Number: 2, Name: "receive-lag", Question: "Is the time that received data stays unread in this machine reported as such, and not as the broker's?",
			Takes: 10 * time.Second, TakesShort: 4 * time.Second, Timed: true, Run: receiveLag},
		{Number: 2, Name: "broker-starved", Question: "Is a broker that waits for a processor of this machine distinguished from one that is slow?",
			Takes: 12 * time.Second, TakesShort: 7 * time.Second, Timed: true, Run: brokerStarved},
		{Number: 3, Name: "laws", Question: "Are delays from known distributions reported correctly, for each message and each percentile?",
			Takes: 18 * time.Second, TakesShort: 6 * time.Second, Timed: true, Run: knownLaws},
		{Number: 3, Name: "queue", Question: "Are the latencies of a known queue those of queueing theory?",
			Takes: 23 * time.Second, TakesShort: 8 * time.Second, Timed: true, Run: knownQueues},
		{Number: 3, Name: "intervals", Question: "Do the printed 95 % intervals contain the true quantiles?",
			Takes: 15 * time.Second, TakesShort: time.Second, Run: intervals},
		{Number: 4, Name: "floor", Question: "How large are latencies on this machine with a broker that does nothing?",
			Takes: 26 * time.Second, TakesShort: 3 * time.Second, Timed: true, Run: noiseFloor},
		{Number: 4, Name: "limit", Question: "Up to what rate does this machine's generator keep the schedule?",
			Takes: 25 * time.Second, TakesShort: 4 * time.Second, Run: generatorLimits},
		{Number: 5, Name: "conservation", Question: "Are loss, duplication, reordering and corruption counted exactly?",
			Takes: 11 * time.Second, TakesShort: 3 * time.Second, Run: conservation},
		{Number: 5, Name: "lossy", Question: "Is a broker that loses unacknowledged messages distinguished from one that is overloaded?",
			Takes: 11 * time.Second, TakesShort: 5 * time.Second, Timed: true, Run: lossy},
		{Number: 6, Name: "schedule", Question: "Is the schedule kept, and does the verdict say so where it is not?",
			Takes: 10 * time.Second, TakesShort: 6 * time.Second, Timed: true, Run: fidelity},
		{Number: 6, Name: "handover", Question: "Does a blocked connection delay the others of its thread no more late in a schedule than early?",
			Takes: 8 * time.Second, TakesShort: 5 * time.Second, Timed: true, Run: takeover},
		{Number: 7, Name: "little", Question: "Does Little's law hold between counters and time stamps?",
			Takes: 17 * time.Second, TakesShort: 4 * time.Second, Timed: true, Run: littlesLaw},
		{Number: 8, Name: "clock", Question: "Are offset and drift of another clock recovered within the stated bound?",
			Takes: 8 * time.Second, TakesShort: 2 * time.Second, Run: clocks},
		{Number: 9, Name: "interop", Question: "Do other tools read exports with the same values, and does merging lose nothing?",
			Takes: 2 * time.Second, TakesShort: time.Second, Run: interop},
		{Number: 10, Name: "refusal", Question: "Is a refused message slower than any latency?",
			Takes: 3 * time.Second, TakesShort: 3 * time.Second, Run: refusal},
		{Number: 10, Name: "give-up", Question: "Does a message that was given up count as a lower bound?",
			Takes: 5 * time.Second, TakesShort: 3 * time.Second, Timed: true, Run: giveUp},
		{Number: 10, Name: "accounts", Question: "Is a message found that the tool itself loses?",
			Takes: 2 * time.Second, TakesShort: 2 * time.Second, Run: forgotten},
	}
}

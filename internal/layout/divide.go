package layout

import (
	"fmt"
	"math/bits"
	"slices"
	"strconv"

	"sixnines/scenario"
)

// Share is what one agent of a fleet has of a workload, as numbers in the whole, ascending. Every message
// of its producers comes to its own consumers: topics are divided, and nothing crosses from one agent to
// another.
type Share struct {
	Producers []int
	Topics    []int
	Consumers []int
}

// Divide returns what agent k of n, 0 ≤ k < n, has of a workload, and the workload that it runs then: the
// same but for the numbers of producers, topics, consumers and connections. The shares of all agents
// together are the whole, and the layout of each part is that of the whole without the others. The rate
// is left as it is: see schedule.Plan.Of. The error says what of the workload cannot be divided.
func Divide(w *scenario.Workload, k, n int) (Share, *scenario.Workload, error) {
	if k < 0 || n < 1 || k >= n {
		return Share{}, nil, fmt.Errorf("there is no part %d of %d", k+1, n)
	}
	if err := divisible(w, n); err != nil {
		return Share{}, nil, err
	}
	whole := Of(w)
	var s Share
	bundles := whole.bundles(!shared(w))
	refuse := func(why string) error {
		return fmt.Errorf("%d producers, %d topics and %d consumers cannot be divided by %d agents: %s; let the number of agents divide each of them",
			w.Producers, w.Topics, w.Consumers, n, why)
	}
	if len(bundles) < n {
		return Share{}, nil, refuse("topics that share a producer or a consumer stay together")
	}
	from, to := part(len(bundles), k, n)
	has := make([]bool, w.Topics)
	for _, b := range bundles[from:to] {
		s.Topics = append(s.Topics, b...)
		for _, t := range b {
			has[t] = true
		}
	}
	slices.Sort(s.Topics)
	for p, ids := range whole.ByProducer {
		if has[whole.Streams[ids[0]].Topic] {
			s.Producers = append(s.Producers, p)
		}
	}
	for c := range whole.Consumers {
		// Members of a group, or responders, are dealt out: each agent has some of each group.
		if shared(w) && c/max(1, w.Groups)%n == k || !shared(w) && has[whole.Consumers[c].Topics[0]] {
			s.Consumers = append(s.Consumers, c)
		}
	}
	local := *w
	local.Producers, local.Topics = len(s.Producers), len(s.Topics)
	if w.Pattern != scenario.Publish {
		local.Consumers = len(s.Consumers)
	}
	local.Connections.Producers = portion(w.Connections.Producers, k, n)
	local.Connections.Consumers = portion(w.Connections.Consumers, k, n)
	if why := whole.differs(Of(&local), s, shared(w)); why != "" {
		return Share{}, nil, refuse(why)
	}
	return s, &local, nil
}

// shared reports whether consumers compete for the messages of all topics.
func shared(w *scenario.Workload) bool {
	return w.Pattern != scenario.Publish && (w.Groups > 0 || w.Pattern == scenario.RequestReply)
}

// divisible says what of a workload n agents cannot divide; nil: nothing.
func divisible(w *scenario.Workload, n int) error {
	switch {
	case n == 1:
		return nil
	case w.Messages > 0:
		return fmt.Errorf("a number of messages that ends the window is counted by one process: give phases.duration instead of workload.messages")
	case w.Existing != "" || w.Pattern == scenario.Consume:
		return fmt.Errorf("topics that an earlier run has left cannot be divided: leave workload.existing out")
	case w.Topics < n:
		return fmt.Errorf("each topic belongs to one agent, and %d agents need at least %d topics (the workload has %d): give --topics %d or fewer agents", n, n, w.Topics, n)
	case w.Producers < n:
		return fmt.Errorf("%d agents need at least %d producers (the workload has %d): give --producers %d or fewer agents", n, n, w.Producers, n)
	case w.Pattern != scenario.Publish && w.Consumers < n:
		return fmt.Errorf("%d agents need at least %d consumers (the workload has %d): give --consumers %d or fewer agents", n, n, w.Consumers, n)
	}
	return nil
}

// part returns the k-th of n parts of a number of things: from ≤ i < to. Parts differ by at most one.
func part(count, k, n int) (from, to int) {
	share := func(k int) int {
		hi, lo := bits.Mul64(uint64(k), uint64(count))
		q, _ := bits.Div64(hi, lo, uint64(n))
		return int(q)
	}
	return share(k), share(k + 1)
}

// portion is how many of a number of connections agent k of n has: at least one.
func portion(count, k, n int) int {
	from, to := part(count, k, n)
	return max(1, to-from)
}

// bundles returns the topics that producers keep together, and consumers if they are alone, each
// ascending, ordered by their first.
func (l *Layout) bundles(alone bool) (all [][]int) {
	of := make([]int, len(l.Topics)) // the least topic of each topic's bundle so far
	for t := range of {
		of[t] = t
	}
	root := func(t int) int {
		for of[t] != t {
			t = of[t]
		}
		return t
	}
	join := func(topics []int) {
		for _, t := range topics {
			a, b := root(topics[0]), root(t)
			of[max(a, b)] = min(a, b)
		}
	}
	for _, ids := range l.ByProducer {
		var topics []int
		for _, id := range ids {
			topics = append(topics, l.Streams[id].Topic)
		}
		join(topics)
	}
	for _, c := range l.Consumers {
		if alone {
			join(c.Topics)
		}
	}
	index := map[int]int{}
	for t := range of {
		r := root(t)
		i, known := index[r]
		if !known {
			i = len(all)
			index[r], all = i, append(all, nil)
		}
		all[i] = append(all[i], t)
	}
	return all
}

// differs says in which way the layout of a part is not the layout of the whole without the others;
// empty: it is that.
func (l *Layout) differs(part *Layout, s Share, shared bool) string {
	for p, ids := range part.ByProducer {
		theirs := l.ByProducer[s.Producers[p]]
		if len(ids) != len(theirs) {
			return "producer " + strconv.Itoa(s.Producers[p]) + " would have other topics"
		}
		for i, id := range ids {
			if s.Topics[part.Streams[id].Topic] != l.Streams[theirs[i]].Topic {
				return "producer " + strconv.Itoa(s.Producers[p]) + " would have other topics"
			}
		}
	}
	if shared {
		if len(part.Groups) != len(l.Groups) {
			return "an agent would lack a group"
		}
		for g := range part.Groups {
			if len(part.Groups[g].Topics) > 0 && part.Groups[g].members == 0 {
				return "an agent would have no member of a group"
			}
		}
		return ""
	}
	for c, mine := range part.Consumers {
		theirs := l.Consumers[s.Consumers[c]]
		var topics []int
		for _, t := range mine.Topics {
			topics = append(topics, s.Topics[t])
		}
		if !slices.Equal(topics, theirs.Topics) {
			return "consumer " + strconv.Itoa(s.Consumers[c]) + " would have other topics"
		}
	}
	return ""
}

package engine

import (
	"strconv"

	"sixnines/scenario"
)

// layout is who sends to and reads from what: the cross product of producers,
// topics, consumers and groups, before anything is connected.
//
// A stream is one producer's messages to one topic. It is the unit of sequence
// numbers and of order: each envelope has its number.
type layout struct {
	topics     []string
	streams    []streamPlan
	byProducer [][]int // streams of each producer; it takes them in turn
	consumers  []consumerPlan
	groups     []groupPlan // delivery groups: a queue group, or a lone consumer
	groupNames []string    // queue groups as the broker knows them
}

type streamPlan struct {
	producer int
	topic    int
	place    int // among the streams of its topic
	fanOut   int // delivery groups bound to its topic
}

type consumerPlan struct {
	topics []int
	group  int    // delivery group
	name   string // queue group, or ""
}

type groupPlan struct {
	topics  []int
	members int
	// base gives, by topic, where the streams of that topic begin in the
	// group's tables; −1 where the group is not bound to the topic.
	base    []int32
	streams int
}

// layOut lays a workload out. Producers and topics are matched so that each
// producer has as few topics as possible and all topics have the same load:
// one each where the numbers divide, else every producer takes all in turn.
// Lone consumers spread over the topics; members of a queue group subscribe to
// all of them.
func layOut(w *scenario.Workload) *layout {
	l := &layout{}
	for t := range w.Topics {
		l.topics = append(l.topics, "t"+strconv.Itoa(t))
	}
	perTopic := make([]int, w.Topics)
	for p := range w.Producers {
		var topics []int
		switch {
		case w.Producers%w.Topics == 0:
			topics = []int{p % w.Topics}
		case w.Topics%w.Producers == 0:
			for t := p; t < w.Topics; t += w.Producers {
				topics = append(topics, t)
			}
		default:
			for t := range w.Topics {
				topics = append(topics, (p+t)%w.Topics)
			}
		}
		var ids []int
		for _, t := range topics {
			ids = append(ids, len(l.streams))
			l.streams = append(l.streams, streamPlan{producer: p, topic: t, place: perTopic[t]})
			perTopic[t]++
		}
		l.byProducer = append(l.byProducer, ids)
	}
	all := make([]int, w.Topics)
	for t := range all {
		all[t] = t
	}
	if w.Pattern == scenario.RequestReply {
		// Responders compete for requests; what is accounted is the reply,
		// which comes to the producer only.
		l.groups = []groupPlan{l.group(all, 1, perTopic)}
		name := ""
		if w.Groups > 0 || w.Consumers > 1 {
			name = "responders"
			l.groupNames = []string{name}
		}
		for range w.Consumers {
			l.consumers = append(l.consumers, consumerPlan{topics: all, name: name})
		}
	} else if w.Pattern == scenario.Publish {
		for g := range w.Groups { // which hold the messages for another run
			l.groupNames = append(l.groupNames, "g"+strconv.Itoa(g))
		}
	} else if w.Groups > 0 {
		for g := range w.Groups {
			l.groupNames = append(l.groupNames, "g"+strconv.Itoa(g))
			l.groups = append(l.groups, l.group(all, 0, perTopic))
		}
		for c := range w.Consumers {
			g := c % w.Groups
			l.groups[g].members++
			l.consumers = append(l.consumers, consumerPlan{topics: all, group: g, name: l.groupNames[g]})
		}
	} else {
		for c := range w.Consumers {
			topics := []int{c % w.Topics}
			for t := c + w.Consumers; t < w.Topics; t += w.Consumers {
				topics = append(topics, t)
			}
			l.consumers = append(l.consumers, consumerPlan{topics: topics, group: c})
			l.groups = append(l.groups, l.group(topics, 1, perTopic))
		}
	}
	bound := make([]int, w.Topics)
	for _, g := range l.groups {
		for _, t := range g.topics {
			bound[t]++
		}
	}
	for i := range l.streams {
		l.streams[i].fanOut = bound[l.streams[i].topic]
	}
	return l
}

func (l *layout) group(topics []int, members int, perTopic []int) groupPlan {
	g := groupPlan{topics: topics, members: members, base: make([]int32, len(perTopic))}
	for t := range g.base {
		g.base[t] = -1
	}
	for _, t := range topics {
		g.base[t] = int32(g.streams)
		g.streams += perTopic[t]
	}
	return g
}

// maxFanOut returns the largest number of delivery groups a message goes to.
func (l *layout) maxFanOut() int {
	n := 0
	for _, s := range l.streams {
		n = max(n, s.fanOut)
	}
	return n
}

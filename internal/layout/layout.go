// Package layout matches the producers, topics, consumers and groups of a workload, and divides them
// among the agents of a fleet. It follows from the workload alone.
package layout

import (
	"slices"
	"strconv"

	"sixnines/scenario"
)

// Layout is who sends to and reads from what, before anything is connected.
//
// A stream is one producer's messages to one topic. It is the unit of sequence
// numbers and of order: each envelope has its number.
type Layout struct {
	Topics     []string
	Streams    []Stream
	ByProducer [][]int // streams of each producer; it takes them in turn
	Consumers  []Consumer
	Groups     []Group  // delivery groups: a queue group, or a lone consumer
	GroupNames []string // queue groups as the broker knows them
}

// Stream is a stream of the layout.
type Stream struct {
	Producer int
	Topic    int // index into Topics
	Index    int // among the streams of its topic
	FanOut   int // delivery groups bound to its topic
	Number   int // among the streams of the whole workload, of which this layout may be a part
}

// Consumer is a subscription.
type Consumer struct {
	Topics []int  // indices into Layout.Topics
	Group  int    // index into Layout.Groups
	Name   string // of the queue group at the broker, or ""
}

// Group is a delivery group: each message of its topics is delivered to one of its members.
type Group struct {
	Topics  []int   // indices into Layout.Topics, ascending
	Number  int     // among the groups of the whole workload, of which this layout may be a part
	members int     // consumers
	base    []int32 // by the topic's index in Topics: where the streams of that topic begin in the group's tables
	Streams int     // of its topics
}

// Of returns the layout of a workload. Producers and topics are matched so that each
// producer has as few topics as possible and all topics have the same load:
// one each where the numbers divide, else every producer takes all in turn.
// Lone consumers spread over the topics; members of a queue group subscribe to
// all of them.
func Of(w *scenario.Workload) *Layout {
	l := &Layout{}
	for t := range w.Topics {
		l.Topics = append(l.Topics, "t"+strconv.Itoa(t))
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
			ids = append(ids, len(l.Streams))
			l.Streams = append(l.Streams, Stream{Producer: p, Topic: t, Index: perTopic[t]})
			perTopic[t]++
		}
		l.ByProducer = append(l.ByProducer, ids)
	}
	all := make([]int, w.Topics)
	for t := range all {
		all[t] = t
	}
	if w.Pattern == scenario.RequestReply {
		// Responders compete for requests; what is accounted is the reply,
		// which comes to the producer only.
		l.Groups = []Group{l.group(all, 1, perTopic)}
		name := ""
		if w.Groups > 0 || w.Consumers > 1 {
			name = "responders"
			l.GroupNames = []string{name}
		}
		for range w.Consumers {
			l.Consumers = append(l.Consumers, Consumer{Topics: all, Name: name})
		}
	} else if w.Pattern == scenario.Publish {
		for g := range w.Groups { // which hold the messages for another run
			l.GroupNames = append(l.GroupNames, "g"+strconv.Itoa(g))
		}
	} else if w.Groups > 0 {
		for g := range w.Groups {
			l.GroupNames = append(l.GroupNames, "g"+strconv.Itoa(g))
			l.Groups = append(l.Groups, l.group(all, 0, perTopic))
		}
		for c := range w.Consumers {
			g := c % w.Groups
			l.Groups[g].members++
			l.Consumers = append(l.Consumers, Consumer{Topics: all, Group: g, Name: l.GroupNames[g]})
		}
	} else {
		for c := range w.Consumers {
			topics := []int{c % w.Topics}
			for t := c + w.Consumers; t < w.Topics; t += w.Consumers {
				topics = append(topics, t)
			}
			l.Consumers = append(l.Consumers, Consumer{Topics: topics, Group: c})
			l.Groups = append(l.Groups, l.group(topics, 1, perTopic))
		}
	}
	bound := make([]int, w.Topics)
	for _, g := range l.Groups {
		for _, t := range g.Topics {
			bound[t]++
		}
	}
	for i := range l.Streams {
		l.Streams[i].FanOut, l.Streams[i].Number = bound[l.Streams[i].Topic], i
	}
	for i := range l.Groups {
		l.Groups[i].Number = i
	}
	return l
}

func (l *Layout) group(topics []int, members int, perTopic []int) Group {
	g := Group{Topics: topics, members: members, base: make([]int32, len(topics))}
	for i, t := range topics {
		g.base[i] = int32(g.Streams)
		g.Streams += perTopic[t]
	}
	return g
}

// Base returns where the streams of a topic begin in the group's tables; −1: the group is not bound to the topic.
func (g *Group) Base(topic int) int {
	i := topic
	if i >= len(g.Topics) || g.Topics[i] != topic { // it has not all topics, but ascending ones
		var bound bool
		if i, bound = slices.BinarySearch(g.Topics, topic); !bound {
			return -1
		}
	}
	return int(g.base[i])
}

// MaxFanOut returns the largest number of delivery groups a message goes to.
func (l *Layout) MaxFanOut() int {
	n := 0
	for _, s := range l.Streams {
		n = max(n, s.FanOut)
	}
	return n
}

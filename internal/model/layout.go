package model

import "sixnines/scenario"

// stream is the messages of one producer to one topic. Numbers and order are by stream.
type stream struct {
	id              int
	producer, topic int
	next            int64 // number of the next message
}

// group is a delivery group: each message of its topics is expected once in it. A consumer
// without a group is a group of its own.
type group struct {
	topics  []int
	members []int // consumers
}

// has reports whether messages of the topic go to the group.
func (g *group) has(topic int) bool {
	for _, t := range g.topics {
		if t == topic {
			return true
		}
	}
	return false
}

// layout says which producers send to which topics, and which consumers read them.
type layout struct {
	streams    []stream
	ofProducer [][]int // the streams of each, which it takes in turn
	groups     []group
	consumers  int
}

// layOut distributes topics. If the number of topics divides that of the producers, each
// producer has one topic; if it is the other way round, each has its share of the topics;
// else each sends to all topics in turn, beginning with a different one. Consumers without a
// group are spread over the topics, members of groups read all topics, and consumer c is in
// group c modulo the number of groups.
func layOut(w *scenario.Workload) *layout {
	l := &layout{}
	producers, topics := w.Producers, w.Topics
	for p := range producers {
		var to []int
		switch {
		case producers%topics == 0:
			to = []int{p % topics}
		case topics%producers == 0:
			for t := p; t < topics; t += producers {
				to = append(to, t)
			}
		default:
			for t := range topics {
				to = append(to, (p+t)%topics)
			}
		}
		var ids []int
		for _, t := range to {
			ids = append(ids, len(l.streams))
			l.streams = append(l.streams, stream{id: len(l.streams), producer: p, topic: t})
		}
		l.ofProducer = append(l.ofProducer, ids)
	}
	every := make([]int, topics)
	for t := range every {
		every[t] = t
	}
	switch {
	case w.Pattern == scenario.Publish:
	case w.Pattern == scenario.RequestReply:
		g := group{topics: every}
		for c := range w.Consumers {
			g.members = append(g.members, c)
		}
		l.groups, l.consumers = []group{g}, w.Consumers
	case w.Groups > 0:
		for range w.Groups {
			l.groups = append(l.groups, group{topics: every})
		}
		for c := range w.Consumers {
			g := &l.groups[c%w.Groups]
			g.members = append(g.members, c)
		}
		l.consumers = w.Consumers
	default:
		for c := range w.Consumers {
			g := group{topics: []int{c % topics}, members: []int{c}}
			for t := c + w.Consumers; t < topics; t += w.Consumers {
				g.topics = append(g.topics, t)
			}
			l.groups = append(l.groups, g)
		}
		l.consumers = w.Consumers
	}
	return l
}

// fanOut is how many groups get a message of the topic.
func (l *layout) fanOut(topic int) (n int) {
	for i := range l.groups {
		if l.groups[i].has(topic) {
			n++
		}
	}
	return n
}

package model

import (
	"fmt"
	"strings"
	"time"
)

// receivers draws how many consumers and groups get the messages.
func (d *drawing) receivers(l *drawnLoad) {
	switch l.pattern {
	case "deliver":
		consumers, topics := 1, 1
		if l.alone = !d.chance(50); !l.alone {
			consumers = 1 + d.IntN(4)
			l.add("consumers: %d", consumers)
		}
		if d.chance(30) && d.kind != backlogs {
			topics = 1 + d.IntN(min(4, consumers))
			l.add("topics: %d", topics)
		}
		if d.chance(30) || d.has("lose_acked") && consumers > topics {
			groups := 1 + d.IntN(consumers)
			if d.has("lose_acked") { // see d.consumers
				groups = (groups + 1) / 2
			}
			l.members = (consumers + groups - 1) / groups
			l.add("groups: %d", groups)
		}
	case "request-reply":
		if d.chance(50) {
			l.add("consumers: %d", 1+d.IntN(4))
		}
	}
}

// consumers draws how consumers behave.
func (d *drawing) consumers(l *drawnLoad) {
	var what []string
	// Consumers that are busy with a backlog when they are closed end only after their work.
	gap := max(l.window, time.Second) / time.Duration(l.messages)
	works := l.pattern != "publish" && d.chance(30) && (d.kind != backlogs || l.alone)
	switch {
	case l.members > 1 && d.has("lose_acked") && (d.kind == single || d.kind == several || d.kind == limited):
		// A loss is not known as long as another member still receives a backlog.
		gap *= time.Duration(l.members)
		what = append(what, fmt.Sprintf("work: %v", d.time(gap*3/2, gap*4)))
	case works:
		what = append(what, fmt.Sprintf("work: %v", d.time(gap/10+2, gap*6/5+4)))
	}
	switch d.kind {
	case paused:
		at := d.time(1, l.window*3/4)
		what = append(what, fmt.Sprintf("pause: %v@%v", d.time(time.Millisecond, l.window/2), at))
	case backlogs:
		if from := d.time(time.Millisecond, l.window*4/5); d.chance(50) {
			what = append(what, "from: filled")
		} else {
			what = append(what, fmt.Sprintf("from: %v", from))
		}
	}
	if len(what) > 0 {
		l.add("consumer: {%s}", strings.Join(what, ", "))
	}
}

package scenario

import (
	"fmt"
	"slices"
	"strings"
)

// Topics returns the names of topics that are the operator's, Groups those of groups.
func (t *Target) Topics() []string { return listed(t.Topic) }

// Groups returns the names of groups that are the operator's.
func (t *Target) Groups() []string { return listed(t.Group) }

func listed(names string) []string {
	if names == "" {
		return nil
	}
	all := strings.Split(names, ",")
	for i := range all {
		all[i] = strings.TrimSpace(all[i])
	}
	return all
}

// fillGiven sets the numbers that follow from names.
func (s *Scenario) fillGiven() {
	if len(s.Workloads) > 0 {
		return
	}
	if w := &s.Workload; s.Target.Topic != "" {
		fill(&w.Topics, len(s.Target.Topics()))
		if w.Pattern != RequestReply {
			fill(&w.Groups, len(s.Target.Groups()))
		}
	}
}

// given checks names of topics and groups that are the operator's.
func (v *validator) given() {
	t, w := &v.s.Target, &v.s.Workload
	topics, groups := t.Topics(), t.Groups()
	v.refuse(len(groups) > 0 && len(topics) == 0, "a group that exists, and no topic", "name its topic, too: target.topic (--topic)", "target.group")
	if len(topics) == 0 {
		return
	}
	for key, names := range map[string][]string{"target.topic": topics, "target.group": groups} {
		sorted := slices.Sorted(slices.Values(names))
		v.refuse(slices.Contains(names, ""), "an empty name", "names have commas between them", key)
		v.refuse(len(slices.Compact(sorted)) < len(names), "a name that is there twice", "each topic and group is one of its own", key)
	}
	switch {
	case t.URL == "":
		v.fail("a topic that exists, but the broker is started for the run", "give target.url", "target.topic")
	case len(v.s.Workloads) > 0:
		v.fail("topics that exist, and several workloads, each of which would get the messages of the others", "make them runs of their own", "target.topic", "workloads")
	case w.Existing != "" || w.Retains():
		v.fail("topics that exist, and what an earlier run of ours left, or what is to be left", "leave workload.existing and workload.lifetime out: nothing of target.topic is deleted", "target.topic", "workload.existing", "workload.lifetime")
	case v.s.Phases.ReadBack > 0:
		v.fail("topics that exist are not read back, since others have messages there", "leave phases.read_back out", "target.topic", "phases.read_back")
	case w.Topics != len(topics):
		v.fail(fmt.Sprintf("it names %d topics, and the workload has %d", len(topics), w.Topics), "leave workload.topics out, or name as many", "target.topic", "workload.topics")
	case len(groups) > 0 && w.Pattern == RequestReply && len(groups) > 1:
		v.fail("several groups of responders", "name one", "target.group")
	case w.Pattern != RequestReply && len(groups) != w.Groups:
		v.fail(fmt.Sprintf("it names %d groups, and the workload has %d", len(groups), w.Groups), "leave workload.groups out, or name as many", "target.group", "workload.groups")
	}
}

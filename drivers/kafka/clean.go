package kafka

import (
	"context"
	"slices"

	"sixnines/driver"
)

// Leftovers implements driver.Cleaner. Kafka does not say when a topic was made.
func (s *session) Leftovers(ctx context.Context) (all []driver.Leftover, err error) {
	topics, err := s.admin.ListTopics(ctx)
	if err != nil {
		return nil, s.connecting(err, "list topics")
	}
	for _, name := range topics.Names() {
		if naming().OfRun(s.Target.Prefix, name) {
			all = append(all, driver.Leftover{What: "topic", Name: name, Ours: naming().Marked(s.Target.Prefix)})
		}
	}
	groups, err := s.admin.ListGroups(ctx)
	if err != nil {
		return nil, s.connecting(err, "list groups")
	}
	for _, name := range slices.Sorted(slices.Values(groups.Groups())) {
		if naming().OfRun(s.Target.Prefix, name) {
			all = append(all, driver.Leftover{What: "group", Name: name, Ours: naming().Marked(s.Target.Prefix)})
		}
	}
	return all, nil
}

// Remove implements driver.Cleaner.
func (s *session) Remove(ctx context.Context, l driver.Leftover) error {
	if l.What == "group" {
		return wrap(s.forgetGroup(ctx, s.admin, l.Name), "delete group %q", l.Name)
	}
	return remove(ctx, s.admin, []string{l.Name})
}

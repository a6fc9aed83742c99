package pulsar

import (
	"context"
	"errors"
	"strings"

	"sixnines/driver"
)

// The kinds of topics, see driver.Leftover.
const (
	aTopic      = "topic"
	partitioned = "partitioned topic"
)

// Leftovers implements driver.Cleaner: the topics of the namespace. Pulsar does not say when one was made.
func (s *session) Leftovers(ctx context.Context) (all []driver.Leftover, err error) {
	for _, domain := range []string{"persistent", "non-persistent"} {
		for _, kind := range []struct{ what, suffix string }{{aTopic, ""}, {partitioned, "/partitioned"}} {
			var names []string
			if err := s.ask(ctx, "GET", domain+"/"+s.options.Namespace+kind.suffix, nil, &names); err != nil {
				return nil, s.Wrap(err, "list topics of %q", s.options.Namespace)
			}
			for _, name := range names {
				local := name[strings.LastIndexByte(name, '/')+1:]
				if strings.Contains(local, "-partition-") || !naming().OfRun(s.Target.Prefix, local) {
					continue // a partition goes with its topic
				}
				all = append(all, driver.Leftover{What: kind.what, Name: name, Ours: naming().Marked(s.Target.Prefix)})
			}
		}
	}
	return all, nil
}

// Remove implements driver.Cleaner.
func (s *session) Remove(ctx context.Context, l driver.Leftover) error {
	path := strings.Replace(l.Name, "://", "/", 1)
	if l.What == partitioned {
		path += "/partitions"
	}
	if err := s.ask(ctx, "DELETE", path+"?force=true", nil, nil); err != nil && !errors.Is(err, driver.ErrNoTopic) {
		return s.Wrap(err, "remove topic %q", l.Name)
	}
	return nil
}

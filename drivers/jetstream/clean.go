package jetstream

import (
	"context"

	js "github.com/nats-io/nats.go/jetstream"

	"sixnines/driver"
)

// Leftovers implements driver.Cleaner. The server says when it made each stream, and when it last stored a message.
func (s *session) Leftovers(ctx context.Context) (all []driver.Leftover, err error) {
	for {
		var page struct {
			Total   int             `json:"total"`
			Streams []js.StreamInfo `json:"streams"`
		}
		var seen struct {
			Offset int `json:"offset"`
		}
		seen.Offset = len(all)
		if err := s.api.request(ctx, "STREAM.LIST", seen, &page); err != nil {
			return nil, wrap(err, "list streams")
		}
		for _, st := range page.Streams {
			l := driver.Leftover{What: "stream", Name: st.Config.Name, Used: st.Created, Ours: st.Config.Description == description}
			if st.State.LastTime.After(l.Used) {
				l.Used = st.State.LastTime
			}
			all = append(all, l)
		}
		if len(page.Streams) == 0 || len(all) >= page.Total {
			return marked(s.Target.Prefix, all), nil
		}
	}
}

// marked returns those whose names are a run's.
func marked(prefix string, all []driver.Leftover) (ours []driver.Leftover) {
	for _, l := range all {
		if streamNaming().OfRun(flat(prefix), l.Name) {
			ours = append(ours, l)
		}
	}
	return ours
}

// Remove implements driver.Cleaner.
func (s *session) Remove(ctx context.Context, l driver.Leftover) error {
	return s.api.deleteStream(ctx, l.Name)
}

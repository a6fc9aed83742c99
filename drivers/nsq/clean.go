package nsq

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"

	"sixnines/driver"
)

// Leftovers implements driver.Cleaner. nsqd does not say when a topic was made or used.
func (s *session) Leftovers(ctx context.Context) (all []driver.Leftover, err error) {
	if s.http == "" {
		return nil, s.Option("http_url", "topics are listed by nsqd's HTTP address only, which does not follow from the URL")
	}
	text, err := s.ask(ctx, s.http, http.MethodGet, "/stats", url.Values{"format": {"json"}, "include_clients": {"false"}})
	if err != nil {
		return nil, wrap(err, "list topics")
	}
	var found struct {
		Topics []struct {
			Name string `json:"topic_name"`
		} `json:"topics"`
	}
	if err := json.Unmarshal(text, &found); err != nil {
		return nil, fmt.Errorf("nsq: list topics: %w: %w", driver.ErrRejected, err)
	}
	for _, t := range found.Topics {
		if naming().OfRun(s.Target.Prefix, t.Name) {
			all = append(all, driver.Leftover{What: "topic", Name: t.Name, Ours: naming().Marked(s.Target.Prefix)})
		}
	}
	return all, nil
}

// Remove implements driver.Cleaner.
func (s *session) Remove(ctx context.Context, l driver.Leftover) error {
	if err := s.post(ctx, "/topic/delete", l.Name, ""); !errors.Is(err, driver.ErrNoTopic) {
		return wrap(err, "remove topic %q", l.Name)
	}
	return nil
}

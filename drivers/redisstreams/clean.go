package redisstreams

import (
	"context"
	"strconv"
	"strings"
	"time"

	"github.com/gomodule/redigo/redis"

	"sixnines/driver"
)

// Leftovers implements driver.Cleaner. The server numbers entries by its clock.
func (s *session) Leftovers(ctx context.Context) (all []driver.Leftover, err error) {
	literal := strings.NewReplacer("*", `\*`, "?", `\?`, "[", `\[`, `\`, `\\`).Replace(naming().Begins(s.Target.Prefix))
	cursor := "0"
	for {
		answer, err := redis.Values(s.Control.Do(ctx, "SCAN", cursor, "MATCH", literal+"*", "COUNT", 1000, "TYPE", "stream"))
		if err != nil {
			return nil, s.Wrap(err, "list streams")
		}
		var keys []string
		if _, err := redis.Scan(answer, &cursor, &keys); err != nil {
			return nil, s.Wrap(err, "list streams")
		}
		for _, key := range keys {
			if !naming().OfRun(s.Target.Prefix, key) {
				continue
			}
			l := driver.Leftover{What: "stream", Name: key, Ours: naming().Marked(s.Target.Prefix)}
			if l.Used, err = s.written(ctx, key); err != nil {
				return nil, s.Wrap(err, "look at stream %q", key)
			}
			all = append(all, l)
		}
		if cursor == "0" {
			return all, nil
		}
	}
}

// written returns when the last entry was added to a stream; zero: none was.
func (s *session) written(ctx context.Context, key string) (time.Time, error) {
	info, err := redis.Values(s.Control.Do(ctx, "XINFO", "STREAM", key))
	for i := 0; i+1 < len(info) && err == nil; i += 2 {
		if name, _ := redis.String(info[i], nil); name != "last-generated-id" {
			continue
		}
		id, _ := redis.String(info[i+1], nil)
		ms, _, _ := strings.Cut(id, "-")
		if n, err := strconv.ParseInt(ms, 10, 64); err == nil && n > 0 {
			return time.UnixMilli(n), nil
		}
	}
	return time.Time{}, err
}

// Remove implements driver.Cleaner.
func (s *session) Remove(ctx context.Context, l driver.Leftover) error {
	_, err := s.Control.Do(ctx, "UNLINK", l.Name)
	return s.Wrap(err, "remove stream %q", l.Name)
}

package redisstreams

import (
	"cmp"
	"context"
	"strconv"
	"strings"
	"time"

	"github.com/gomodule/redigo/redis"

	"sixnines/driver"
	"sixnines/drivers/internal/resp"
)

// Leftovers implements driver.Cleaner. The server numbers entries by its clock.
func (s *session) Leftovers(ctx context.Context) (all []driver.Leftover, err error) {
	masters, err := s.Masters(ctx)
	if err != nil {
		return nil, s.Wrap(err, "list streams")
	}
	for _, at := range masters {
		keys, err := s.streams(ctx, at)
		if err != nil {
			return nil, s.Wrap(err, "list streams")
		}
		for _, key := range keys {
			l := driver.Leftover{What: "stream", Name: key, Ours: naming().Marked(s.Target.Prefix)}
			if l.Used, err = s.written(ctx, key); err != nil {
				return nil, s.Wrap(err, "look at stream %q", key)
			}
			all = append(all, l)
		}
	}
	return all, nil
}

// streams lists those of runs at one server.
func (s *session) streams(ctx context.Context, at *resp.Control) (all []string, err error) {
	literal := strings.NewReplacer("*", `\*`, "?", `\?`, "[", `\[`, `\`, `\\`).Replace(naming().Begins(s.Target.Prefix))
	for cursor := ""; cursor != "0"; {
		answer, err := redis.Values(at.Do(ctx, "SCAN", cmp.Or(cursor, "0"), "MATCH", literal+"*", "COUNT", 1000, "TYPE", "stream"))
		if err != nil {
			return nil, err
		}
		var keys []string
		if _, err := redis.Scan(answer, &cursor, &keys); err != nil {
			return nil, err
		}
		for _, key := range keys {
			if naming().OfRun(s.Target.Prefix, key) {
				all = append(all, key)
			}
		}
	}
	return all, nil
}

// written returns when the last entry was added to a stream; zero: none was.
func (s *session) written(ctx context.Context, key string) (time.Time, error) {
	info, err := redis.Values(s.Do(ctx, key, "XINFO", "STREAM", key))
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
	_, err := s.Do(ctx, l.Name, "UNLINK", l.Name)
	return s.Wrap(err, "remove stream %q", l.Name)
}

package redisstreams

import (
	"context"
	"errors"
	"fmt"
	"time"
	"unsafe"

	goredis "github.com/redis/go-redis/v9"

	"sixnines/drivers/internal/resp"
)

// goRedisFetcher implements fetcher by go-redis: XRead or XReadGroup, and pipelines of
// XAck, for the end of which the consumer waits.
type goRedisFetcher struct {
	*consumer
	client *resp.GoRedisClient
	acks   goredis.Pipeliner
}

func newGoRedisFetcher(c *consumer, conn *resp.Conn) *goRedisFetcher {
	client := resp.NewGoRedis(conn)
	return &goRedisFetcher{consumer: c, client: client, acks: client.Pipeline()}
}

func (f *goRedisFetcher) ack(k int, ids []id) {
	texts := make([]string, len(ids))
	for n, i := range ids {
		texts[n] = i.String()
	}
	f.acks.XAck(context.Background(), f.keys[k], f.group, texts...)
}

func (f *goRedisFetcher) send() error {
	if err := f.client.GivenUp(); err != nil {
		return err
	}
	commands, _ := f.acks.Exec(context.Background()) // the end of the connection ends it
	for _, cmd := range commands {
		err := cmd.Err()
		if _, refused := resp.ReplyText(err); refused {
			f.complain(resp.Explain(err))
		} else if err != nil {
			return err
		}
	}
	return nil
}

func (f *goRedisFetcher) fetch() (int, error) {
	if err := f.send(); err != nil {
		return 0, err
	}
	streams, err := f.read()
	if err != nil && !errors.Is(err, goredis.Nil) {
		return 0, resp.Explain(err)
	}
	count := 0
	for _, s := range streams {
		k, ok := f.numbers[s.Stream]
		if !ok {
			return count, stranger(s.Stream)
		}
		for _, m := range s.Messages {
			i, ok := parseID(m.ID)
			if !ok {
				return count, fmt.Errorf("%w: %.40q is no identifier", resp.ErrProtocol, m.ID)
			}
			var payload []byte
			if m.Values != nil { // it has not been deleted
				text, ok := m.Values[f.session.options.Field].(string)
				if !ok {
					return count, fmt.Errorf("%w: an entry without the field %q", resp.ErrProtocol, f.session.options.Field)
				}
				// Nobody writes to a payload, so the string need not be copied.
				payload = unsafe.Slice(unsafe.StringData(text), len(text))
			}
			f.entry(k, i, payload)
			count++
		}
	}
	return count, nil
}

// read fetches.
func (f *goRedisFetcher) read() ([]goredis.XStream, error) {
	ctx := context.Background() // the end of the connection ends it
	count, block := int64(f.session.options.Count), time.Duration(0)
	if f.fetching == fetchAgain { // which never waits
		block = -1
	}
	streams := append(make([]string, 0, 2*len(f.keys)), f.keys...)
	for k := range f.keys {
		after := ">"
		if f.fetching != fetchNew {
			after = f.last[k].String()
		}
		streams = append(streams, after)
	}
	if f.group == "" {
		return f.client.XRead(ctx, &goredis.XReadArgs{Streams: streams, Count: count, Block: block}).Result()
	}
	return f.client.XReadGroup(ctx, &goredis.XReadGroupArgs{Group: f.group, Consumer: f.name,
		Streams: streams, Count: count, Block: block, NoAck: f.noAck}).Result()
}

func (f *goRedisFetcher) close() { f.client.Close() }

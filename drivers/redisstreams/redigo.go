package redisstreams

import (
	"fmt"

	redigo "github.com/gomodule/redigo/redis"

	"sixnines/drivers/internal/resp"
)

// redigoFetcher implements fetcher by redigo: Send of all that is due, Flush, and
// Receive.
type redigoFetcher struct {
	*consumer
	conn        redigo.Conn
	outstanding int // commands that are not answered: acknowledgements, and ASKING
}

func newRedigoFetcher(c *consumer, conn *resp.Conn) *redigoFetcher {
	return &redigoFetcher{consumer: c, conn: conn.Redigo()}
}

// ack and fetch send without looking at errors: redigo keeps those of writing, and
// Flush has them.
func (f *redigoFetcher) ack(k int, ids []id) {
	f.askings()
	args := redigo.Args{f.keys[k], f.group}
	for _, i := range ids {
		args = args.Add(i.String())
	}
	_ = f.conn.Send("XACK", args...)
	f.outstanding++
}

// askings sends ASKING where the next command needs it.
func (f *redigoFetcher) askings() {
	if f.asking {
		_ = f.conn.Send("ASKING")
		f.outstanding++
	}
}

func (f *redigoFetcher) send() error { return f.conn.Flush() }

func (f *redigoFetcher) fetch() (int, error) {
	f.askings()
	command, args := f.request()
	_ = f.conn.Send(command, args...)
	if err := f.conn.Flush(); err != nil {
		return 0, err
	}
	for ; f.outstanding > 0; f.outstanding-- {
		_, err := f.conn.Receive()
		if _, refused := resp.ReplyText(err); refused {
			if err := f.refused(resp.Explain(err)); err != nil {
				return 0, err
			}
		} else if err != nil {
			return 0, err
		}
	}
	f.answered()
	reply, err := f.conn.Receive()
	if err != nil {
		return 0, resp.Explain(err)
	}
	return f.read(reply)
}

// request returns the command that fetches.
func (f *redigoFetcher) request() (command string, args redigo.Args) {
	command = "XREAD"
	if f.group != "" {
		command, args = "XREADGROUP", args.Add("GROUP", f.group, f.name)
	}
	args = args.Add("COUNT", f.session.options.Count)
	if f.fetching != fetchAgain { // which never waits
		args = args.Add("BLOCK", f.block().Milliseconds())
	}
	if f.group != "" && f.noAck {
		args = args.Add("NOACK")
	}
	args = args.Add("STREAMS").AddFlat(f.keys)
	for k := range f.keys {
		if f.fetching == fetchNew {
			args = args.Add(">")
		} else {
			args = args.Add(f.last[k].String())
		}
	}
	return command, args
}

// read hands the entries of an answer over and returns how many there were.
func (f *redigoFetcher) read(reply any) (count int, err error) {
	streams, _ := reply.([]any) // none, if there was nothing
	for _, s := range streams {
		var key []byte
		var list []any
		if _, err := redigo.Scan(values(s), &key, &list); err != nil {
			return count, fmt.Errorf("%w: %w", resp.ErrProtocol, err)
		}
		k, ok := f.numbers[string(key)]
		if !ok {
			return count, unasked(string(key))
		}
		for _, e := range list {
			i, payload, err := entryOf(e)
			if err != nil {
				return count, err
			}
			f.entry(k, i, payload)
			count++
		}
	}
	return count, nil
}

// values are the parts of an array.
func values(reply any) []any {
	parts, _ := reply.([]any)
	return parts
}

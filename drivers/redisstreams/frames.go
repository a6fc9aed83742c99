package redisstreams

import (
	"strconv"

	"sixnines/drivers/internal/resp"
)

// frames implements fetcher without redigo.
type frames struct {
	*consumer
	answers     entries
	out         []byte // bytes not yet written
	outstanding int    // commands that are not answered: acknowledgements, and ASKING
	scratch     []byte
}

func newFrames(c *consumer, conn *resp.Conn) *frames {
	return &frames{consumer: c, answers: entries{resp.NewReader(conn, nil)}}
}

// ack appends the command that acknowledges the entries.
func (f *frames) ack(k int, ids []id) {
	f.askings()
	f.out = resp.AppendWords(f.out, 3+len(ids))
	f.word("XACK")
	f.word(f.keys[k])
	f.word(f.group)
	for _, i := range ids {
		f.identifier(i)
	}
	f.outstanding++
}

// send writes what has been appended.
func (f *frames) send() error {
	_, err := f.conn.Write(f.out)
	f.out = f.out[:0]
	return err
}

func (f *frames) fetch() (int, error) {
	f.request()
	if err := f.send(); err != nil {
		return 0, err
	}
	for ; f.outstanding > 0; f.outstanding-- {
		kind, _, line, err := f.answers.Reply()
		if err != nil {
			return 0, err
		}
		if kind == resp.Failure {
			if err := f.refused(resp.ReplyError(string(line))); err != nil {
				return 0, err
			}
		}
	}
	f.answered()
	return f.answers.read(f.consumer)
}

// askings appends ASKING where the next command needs it.
func (f *frames) askings() {
	if f.asking {
		f.out = resp.AppendCommand(f.out, "ASKING")
		f.outstanding++
	}
}

// request appends the command that fetches.
func (f *frames) request() {
	f.askings()
	block := f.fetching != fetchAgain // which never waits
	words := 4 + 2*len(f.keys)        // XREAD COUNT n STREAMS …
	if block {
		words += 2
	}
	if f.group == "" {
		f.out = resp.AppendWord(resp.AppendWords(f.out, words), "XREAD")
	} else {
		words += 3
		if f.noAck {
			words++
		}
		f.out = resp.AppendWord(resp.AppendWords(f.out, words), "XREADGROUP")
		f.word("GROUP")
		f.word(f.group)
		f.word(f.name)
	}
	f.word("COUNT")
	f.scratch = strconv.AppendInt(f.scratch[:0], int64(f.session.options.Count), 10)
	f.out = resp.AppendWord(f.out, f.scratch)
	if block {
		f.word("BLOCK")
		f.scratch = strconv.AppendInt(f.scratch[:0], f.block().Milliseconds(), 10)
		f.out = resp.AppendWord(f.out, f.scratch)
	}
	if f.group != "" && f.noAck {
		f.word("NOACK")
	}
	f.word("STREAMS")
	for _, key := range f.keys {
		f.word(key)
	}
	for k := range f.keys {
		if f.fetching == fetchNew {
			f.word(">")
			continue
		}
		f.identifier(f.last[k])
	}
}

func (f *frames) word(w string) { f.out = resp.AppendWord(f.out, w) }

func (f *frames) identifier(i id) {
	f.scratch = i.append(f.scratch[:0])
	f.out = resp.AppendWord(f.out, f.scratch)
}

package resp

import "strconv"

// Command is what the messages of one producer are sent by: the same words each
// time, and then the payload. One goroutine at a time uses it.
type Command struct {
	head []byte // of its frame, for frames of our own
	name string // for redigo, with args
	args []any  // the other words, and a place for the payload; nil: no payload
}

// NewCommand returns the command that has the words before the payload.
func NewCommand(words ...string) *Command {
	c := &Command{name: words[0], head: AppendWords(nil, len(words)+1)}
	for _, w := range words {
		c.head = AppendWord(c.head, w)
	}
	for _, w := range words[1:] {
		c.args = append(c.args, w)
	}
	c.args = append(c.args, nil)
	return c
}

// question returns the command that the server answers when it has read all before it,
// by a line. It has no payload. Where the server is silent it speaks for as long as this
// takes.
func question(silent bool) *Command {
	c := &Command{head: AppendCommand(nil, "PING"), name: "PING"}
	if silent {
		c.head = AppendCommand(AppendCommand(nil, "CLIENT", "REPLY", "ON"), "CLIENT", "REPLY", "OFF")
	}
	return c
}

// with returns the arguments of the command with the payload, until it is next
// called.
func (c *Command) with(payload []byte) []any {
	if c.args == nil {
		return nil
	}
	c.args[len(c.args)-1] = payload
	return c.args
}

// AppendCommand appends a command as the server reads it: an array of strings.
func AppendCommand(b []byte, words ...string) []byte {
	b = AppendWords(b, len(words))
	for _, w := range words {
		b = AppendWord(b, w)
	}
	return b
}

// AppendWords appends the beginning of a command of n words.
func AppendWords(b []byte, n int) []byte {
	b = append(b, Array)
	b = strconv.AppendInt(b, int64(n), 10)
	return append(b, "\r\n"...)
}

// AppendWord appends a word of a command.
func AppendWord[S string | []byte](b []byte, word S) []byte {
	b = append(b, Bulk)
	b = strconv.AppendInt(b, int64(len(word)), 10)
	b = append(b, "\r\n"...)
	b = append(b, word...)
	return append(b, "\r\n"...)
}

// wordRoom is how many bytes AppendWord may add to a word.
const wordRoom = 1 + 20 + 2 + 2

package resp

import (
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"

	"github.com/gomodule/redigo/redis"

	"sixnines/driver"
)

// ErrProtocol says that the server sent what is not RESP, or not an answer to
// what it was asked.
var ErrProtocol = errors.New("not the Redis protocol")

// replyClasses are the first words of error replies, or what they begin with.
func replyClass(text string) error {
	for _, c := range []struct {
		prefix string
		class  error
	}{
		{"WRONGPASS", driver.ErrUnauthorized},
		{"NOAUTH", driver.ErrUnauthorized},
		{"NOPERM", driver.ErrForbidden},
		{"DENIED", driver.ErrUnauthorized}, // protected mode
		{"ERR AUTH", driver.ErrUnauthorized},
		{"ERR Client sent AUTH", driver.ErrUnauthorized}, // before 6.0
		{"ERR invalid password", driver.ErrUnauthorized},
		{"ERR Protocol error: invalid bulk length", driver.ErrTooLarge},
		{"ERR DB index is out of range", driver.ErrOption},
		{"ERR SELECT is not allowed in cluster mode", driver.ErrOption},
		{"ERR max number of clients", driver.ErrNotConnected},
		{"LOADING", driver.ErrNotConnected},
		{"MASTERDOWN", driver.ErrNotConnected},
		{"NOGROUP", driver.ErrNoTopic},
		{"UNBLOCKED", driver.ErrNoTopic},
		{"ERR Only HELLO messages are accepted by Sentinel", driver.ErrUnsupported},
		{"ERR unknown command", driver.ErrUnsupported},
		{"ERR unknown subcommand", driver.ErrUnsupported},
		{"ERR This instance has cluster support disabled", driver.ErrOption},
		{"MOVED", driver.ErrUnsupported}, // a cluster's way to say: not here
		{"CROSSSLOT", driver.ErrUnsupported},
		{"CLUSTERDOWN", driver.ErrNotConnected},
	} {
		if strings.HasPrefix(text, c.prefix) {
			return c.class
		}
	}
	return driver.ErrRejected // out of memory, read only, a disk that fails, …
}

// passes reports whether an error reply goes away by itself: the server loads its
// data, or has no master yet, or another server of its cluster has what it was asked for.
func passes(err error) bool {
	if isElsewhere(err) {
		return true
	}
	for _, prefix := range []string{"LOADING", "MASTERDOWN", "CLUSTERDOWN", "TRYAGAIN"} {
		if IsReply(err, prefix) {
			return true
		}
	}
	return false
}

// hint says what to do about an error reply, where its text does not.
func hint(text string) string {
	switch {
	case strings.HasPrefix(text, "NOAUTH"):
		return "; give the options user and password, or put them into the URL"
	case strings.HasPrefix(text, "ERR AUTH"), strings.HasPrefix(text, "ERR Client sent AUTH"):
		return "; the server wants no password, so give none"
	case strings.HasPrefix(text, "MOVED"), strings.HasPrefix(text, "CROSSSLOT"):
		return "; this is a server of a cluster, which has a part of the keys: write redis+cluster:// in place of redis://"
	case strings.HasPrefix(text, "ERR This instance has cluster support disabled"):
		return "; it is a server on its own: write redis:// in place of redis+cluster://"
	case strings.HasPrefix(text, "ERR Only HELLO messages are accepted by Sentinel"):
		return "; this is a Sentinel, which carries no messages: give the address of a server that it watches"
	case strings.HasPrefix(text, "ERR unknown command"):
		return "; is the server too old, or has the command been renamed?"
	}
	return ""
}

// ReplyError is the error for an error reply, text without its first byte.
func ReplyError(text string) error {
	return fmt.Errorf("%w: the server says %w%s", replyClass(text), quoted{redis.Error(text)}, hint(text))
}

// quoted is an error reply in quotes.
type quoted struct{ reply redis.Error }

func (q quoted) Error() string { return strconv.Quote(string(q.reply)) }
func (q quoted) Unwrap() error { return q.reply }

// ReplyText returns the text of an error reply that Conn.Do or redigo has returned.
func ReplyText(err error) (text string, ok bool) {
	if err == nil { // of every message, and what follows allocates
		return "", false
	}
	var reply redis.Error
	if errors.As(err, &reply) {
		return string(reply), true
	}
	return "", false
}

// IsReply reports whether err stands for an error reply that begins with prefix.
func IsReply(err error, prefix string) bool {
	text, ok := ReplyText(err)
	return ok && strings.HasPrefix(text, prefix)
}

// classOf returns the class of an error reply, or of the end of TLS: nil of other errors.
func classOf(err error) error {
	if text, ok := ReplyText(err); ok {
		return replyClass(text)
	}
	var network *net.OpError
	if errors.As(err, &network) && network.Op == "remote error" { // about certificates
		return driver.ErrUnauthorized
	}
	return nil
}

// Explain adds class and cause, for people, to an error reply of Conn.Do or redigo.
// Other errors stay as they are.
func Explain(err error) error {
	if text, ok := ReplyText(err); ok {
		return fmt.Errorf("%w: the server says %w%s", replyClass(text), err, hint(text))
	}
	return err
}

package resp

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gomodule/redigo/redis"

	"sixnines/drivers/internal/sessiontest"
)

// script is a connection from which the client reads a stream.
type script struct {
	net.Conn
	io.Reader
}

func (s script) Read(p []byte) (int, error)      { return s.Reader.Read(p) }
func (s script) SetReadDeadline(time.Time) error { return nil }
func (s script) Close() error                    { return nil }

// byClient reads replies with redigo until there are no more.
func byClient(stream []byte) (replies []any) {
	c := redis.NewConn(script{Reader: bytes.NewReader(stream)}, 0, 0)
	for {
		reply, err := c.Receive()
		var failure redis.Error
		if errors.As(err, &failure) {
			reply, err = failure, nil
		}
		if err != nil {
			return replies
		}
		replies = append(replies, plain(reply))
	}
}

// plain makes replies comparable: strings of both kinds are strings.
func plain(reply any) any {
	switch r := reply.(type) {
	case []byte:
		return "$" + string(r)
	case string:
		return "+" + r
	case redis.Error:
		return "-" + string(r)
	case []any:
		for i := range r {
			r[i] = plain(r[i])
		}
	}
	return reply
}

// byReader reads replies with a Reader until there are no more, and returns why
// it stopped.
func byReader(r *Reader) (replies []any, err error) {
	for {
		reply, err := whole(r, 0)
		if err != nil {
			return replies, err
		}
		replies = append(replies, reply)
	}
}

func whole(r *Reader, depth int) (any, error) {
	if depth > depthMost {
		return nil, errors.New("too deep for the test")
	}
	kind, n, line, err := r.Head()
	if err != nil {
		return nil, err
	}
	switch kind {
	case Status, Failure:
		return string(kind) + string(line), nil
	case Integer:
		return n, nil
	case Bulk:
		if n < 0 {
			return nil, nil
		}
		b, err := r.Bytes(n)
		return "$" + string(b), err
	}
	if n < 0 {
		return nil, nil
	}
	array := []any{}
	for range n {
		one, err := whole(r, depth+1)
		if err != nil {
			return nil, err
		}
		array = append(array, one)
	}
	return array, nil
}

// write makes replies of chance.
func write(b []byte, random *rand.Rand, most, depth int) []byte {
	text := make([]byte, random.IntN(most))
	for i := range text {
		text[i] = "*$:+-1 \r\na"[random.IntN(10)]
	}
	line := strings.NewReplacer("\r", "", "\n", "").Replace(string(text[:min(len(text), 1000)]))
	switch random.IntN(8) {
	case 0:
		return fmt.Appendf(b, "+%s\r\n", line)
	case 1:
		return fmt.Appendf(b, "-ERR %s\r\n", line)
	case 2:
		return fmt.Appendf(b, ":%d\r\n", random.Int64N(2e9)-1e9)
	case 3:
		return append(b, []string{"$-1\r\n", "*-1\r\n", "*0\r\n", "$0\r\n\r\n"}[random.IntN(4)]...)
	case 4, 5:
		if depth < 4 {
			n := random.IntN(5)
			b = fmt.Appendf(b, "*%d\r\n", n)
			for range n {
				b = write(b, random, most, depth+1)
			}
			return b
		}
	}
	return fmt.Appendf(b, "$%d\r\n%s\r\n", len(text), text)
}

func TestReaderReadsWhatTheClientReads(t *testing.T) {
	for seed := range uint64(150) {
		random := rand.New(rand.NewPCG(seed, 0))
		most := []int{1, 20, 300}[seed%3]
		if seed%50 == 0 { // the buffer must grow as far as it has to
			most = 200_000
		}
		var stream []byte
		for range 20 {
			stream = write(stream, random, 1+most, 0)
		}
		want := byClient(stream)
		if len(want) != 20 {
			t.Fatalf("the client reads %d replies of %.300q", len(want), stream)
		}
		got, err := byReader(NewReader(sessiontest.Chunks(stream, random, 1+random.IntN(2*most)), nil))
		if err != io.EOF || !reflect.DeepEqual(got, want) {
			t.Fatalf("read %.300q, %v; the client %.300q", got, err, want)
		}
		// And all of it can be skipped.
		r := NewReader(sessiontest.Chunks(stream, random, 1+random.IntN(2*most)), nil)
		if err := r.Skip(20); err != nil {
			t.Fatal(err)
		}
		if _, _, _, err := r.Reply(); err != io.EOF {
			t.Fatalf("after all was skipped: %v", err)
		}
	}
}

func TestReaderRefuses(t *testing.T) {
	deep := strings.Repeat("*1\r\n", depthMost+2) + ":1\r\n"
	for _, stream := range []string{
		"PING\r\n", "\r\n", "+OK\n", ":\r\n", ":1a\r\n", ":-\r\n", "$-2\r\n", "$-0\r\n", "*-2\r\n", "$1x\r\n", ":1234567890123456789\r\n",
		"$3\r\nabcd\r\n", "$3\r\nabc\n\n", "$9999999999\r\n", "\x16\x03\x01\x00\xa5\n", ">3\r\n", "HTTP/1.1 400 Bad Request\r\n", deep,
		"+" + strings.Repeat("x", 2*lineMost),
	} {
		if _, _, _, err := NewReader(strings.NewReader(stream), nil).Reply(); !errors.Is(err, ErrProtocol) {
			t.Errorf("%.60q: %v", stream, err)
		}
	}
	for _, stream := range []string{"", "+O", "+OK\r", "$3\r\nab", "$3\r\nabc\r", "*2\r\n:1\r\n", "*1\r\n"} {
		_, _, _, err := NewReader(strings.NewReader(stream), nil).Reply()
		if !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("%q: %v", stream, err)
		}
	}
}

// TestReaderClaims reads the start of a string that says to be as large as can
// be, for which no memory may be set aside before it comes.
func TestReaderClaims(t *testing.T) {
	r := NewReader(strings.NewReader(fmt.Sprintf("$%d\r\n%s", bulkMost, strings.Repeat("x", 1000))), nil)
	if _, err := r.Bulk(); !errors.Is(err, io.ErrUnexpectedEOF) || len(r.buf) > readMost {
		t.Errorf("%v, and a buffer of %d bytes", err, len(r.buf))
	}
}

// TestReaderRests wants rest called when all that has been read was taken.
func TestReaderRests(t *testing.T) {
	var log []string
	pieces := []string{":1\r\n:2\r\n", ":3\r\n"}
	src := readerFunc(func(p []byte) (int, error) {
		if len(pieces) == 0 {
			return 0, io.EOF
		}
		n := copy(p, pieces[0])
		pieces = pieces[1:]
		return n, nil
	})
	r := NewReader(src, func() { log = append(log, "rest") })
	for {
		_, n, _, err := r.Head()
		if err != nil {
			break
		}
		log = append(log, fmt.Sprint(n))
	}
	if want := []string{"rest", "1", "2", "rest", "3", "rest"}; !slices.Equal(log, want) {
		t.Errorf("got %q, want %q", log, want)
	}
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

// FuzzReader lets a Reader and redigo read the same. What the Reader takes the
// client takes, and as the same; it may give up earlier.
func FuzzReader(f *testing.F) {
	for seed := range uint64(8) {
		random := rand.New(rand.NewPCG(seed, 3))
		f.Add(write(nil, random, 30, 0), seed, 7)
	}
	f.Add([]byte("*3\r\n$7\r\nmessage\r\n$1\r\nc\r\n$2\r\n\r\n\r\n:1\r\n"), uint64(1), 3)
	f.Fuzz(func(t *testing.T, stream []byte, seed uint64, most int) {
		if most < 1 || most > 1<<20 {
			most = 7
		}
		if bytes.Count(stream, []byte("*")) > 0 && len(stream) > 1<<16 {
			return
		}
		random := rand.New(rand.NewPCG(seed, 4))
		got, err := byReader(NewReader(sessiontest.Chunks(bytes.Clone(stream), random, most), nil))
		if err == nil {
			t.Fatal("no end")
		}
		again, _ := byReader(NewReader(bytes.NewReader(stream), nil))
		if !reflect.DeepEqual(got, again) {
			t.Fatalf("in pieces %q, at once %q", got, again)
		}
		if big(stream) {
			return // redigo believes every number, and sets the memory aside
		}
		if want := byClient(stream); len(want) < len(got) || !reflect.DeepEqual(got, want[:len(got):len(got)]) && len(got) > 0 {
			t.Fatalf("of %q read %q, the client %q", stream, got, want)
		}
	})
}

// big reports whether a number in the stream is larger than a test can bear.
func big(stream []byte) bool {
	digits := 0
	for _, c := range stream {
		if c < '0' || c > '9' {
			digits = 0
		} else if digits++; digits > 5 {
			return true
		}
	}
	return false
}

// again returns a reader that begins with the stream anew when it has ended.
func again(stream string) io.Reader {
	at := 0
	return readerFunc(func(p []byte) (int, error) {
		n := copy(p, stream[at:])
		at = (at + n) % len(stream)
		return n, nil
	})
}

func TestReaderDoesNotAllocate(t *testing.T) {
	r := NewReader(again(strings.Repeat("*3\r\n$7\r\nmessage\r\n$2\r\nt0\r\n$4\r\nabcd\r\n:1\r\n", 1000)), func() {})
	next := func() {
		if _, _, _, err := r.Reply(); err != nil {
			t.Fatal(err)
		}
	}
	for range 10_000 {
		next()
	}
	if n := testing.AllocsPerRun(10_000, next); n != 0 {
		t.Errorf("%v allocations for each reply", n)
	}
}

func BenchmarkIntegers(b *testing.B) {
	r := NewReader(again(strings.Repeat(":1\r\n", 10_000)), func() {})
	b.ReportAllocs()
	for range b.N {
		if _, _, _, err := r.Reply(); err != nil {
			b.Fatal(err)
		}
	}
}

package redisstreams

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"sixnines/driver"
	"sixnines/drivers/internal/kit"
	"sixnines/drivers/internal/resp"
	"sixnines/drivers/internal/sessiontest"
)

func TestParseID(t *testing.T) {
	for text, want := range map[string]id{
		"0-0": {}, "1526919030474-55": {1526919030474, 55},
		"18446744073709551615-18446744073709551615": {math.MaxUint64, math.MaxUint64},
	} {
		if got, ok := parseID([]byte(text)); !ok || got != want || string(got.append(nil)) != text {
			t.Errorf("%q: %v, %v", text, got, ok)
		}
	}
	for _, text := range []string{"", "-", "1", "1-", "-1", "1-2-3", "1_2", "a-1", "1-a", "18446744073709551616-0", "0-99999999999999999999"} {
		if got, ok := parseID([]byte(text)); ok {
			t.Errorf("%q: %v", text, got)
		}
	}
}

// taken is an entry as it was handed over.
type taken struct {
	stream  int
	id      id
	payload string
	deleted bool
}

type basket []taken

func (b *basket) stream(key []byte) (int, bool) {
	i, err := strconv.Atoi(strings.TrimPrefix(string(key), "k"))
	return i, err == nil && i < 3
}

func (b *basket) entry(stream int, i id, payload []byte) {
	*b = append(*b, taken{stream, i, string(payload), payload == nil})
}

// answer makes an answer to an XREAD, with what is to be taken from it.
func answer(random *rand.Rand, most int) (text []byte, want basket) {
	streams := random.IntN(4)
	if streams == 0 {
		return []byte("*-1\r\n"), nil
	}
	text = fmt.Appendf(nil, "*%d\r\n", streams)
	for k := range streams {
		n := random.IntN(5)
		text = fmt.Appendf(text, "*2\r\n$2\r\nk%d\r\n*%d\r\n", k, n)
		for range n {
			i := id{random.Uint64(), random.Uint64N(9)}
			word := i.append(nil)
			text = fmt.Appendf(text, "*2\r\n$%d\r\n%s\r\n", len(word), word)
			if random.IntN(6) == 0 {
				text = append(text, []string{"*-1\r\n", "*0\r\n"}[random.IntN(2)]...)
				want = append(want, taken{k, i, "", true})
				continue
			}
			payload := make([]byte, random.IntN(most))
			for j := range payload {
				payload[j] = "*$-1\r\nx"[random.IntN(7)]
			}
			fields := 1 + random.IntN(3)
			text = fmt.Appendf(text, "*%d\r\n", 2*fields)
			for range fields - 1 {
				text = append(text, "$1\r\nn\r\n$1\r\nv\r\n"...)
			}
			text = fmt.Appendf(text, "$1\r\nm\r\n$%d\r\n%s\r\n", len(payload), payload)
			want = append(want, taken{k, i, string(payload), false})
		}
	}
	return text, want
}

func TestEntries(t *testing.T) {
	for seed := range uint64(200) {
		random := rand.New(rand.NewPCG(seed, 0))
		most := 1 + []int{10, 500, 30_000}[seed%3]
		var stream []byte
		var want basket
		counts := 0
		for range 10 {
			text, some := answer(random, most)
			stream, want, counts = append(stream, text...), append(want, some...), counts+len(some)
		}
		var got basket
		e := entries{resp.NewReader(sessiontest.Chunks(stream, random, 2*most), nil)}
		total := 0
		for range 10 {
			n, err := e.read(&got)
			if err != nil {
				t.Fatal(err)
			}
			total += n
		}
		if total != counts || !slices.Equal(got, want) {
			t.Fatalf("took %d entries %.300q, want %d %.300q", total, fmt.Sprint(got), counts, fmt.Sprint(want))
		}
	}
}

func TestEntriesRefuse(t *testing.T) {
	for _, text := range []string{
		"+OK\r\n", "*1\r\n:1\r\n", "*1\r\n*1\r\n$2\r\nk0\r\n", "*1\r\n*2\r\n$2\r\nk9\r\n*0\r\n", "*1\r\n*2\r\n$2\r\nk0\r\n*1\r\n*2\r\n$1\r\nx\r\n*0\r\n",
		"*1\r\n*2\r\n$2\r\nk0\r\n*1\r\n*2\r\n$3\r\n1-1\r\n*2\r\n$1\r\nm\r\n$-1\r\n", "*1\r\n*2\r\n$2\r\nk0\r\n*1\r\n*2\r\n$3\r\n1-1\r\n*2\r\n$1\r\nm\r\n:1\r\n",
	} {
		if n, err := (entries{resp.NewReader(strings.NewReader(text), nil)}).read(new(basket)); !errors.Is(err, resp.ErrProtocol) {
			t.Errorf("%q: %d entries, %v", text, n, err)
		}
	}
}

// FuzzEntries wants what is taken not to depend on how it comes in, and no more
// than there is.
func FuzzEntries(f *testing.F) {
	for seed := range uint64(8) {
		text, _ := answer(rand.New(rand.NewPCG(seed, 3)), 20)
		f.Add(text, seed, 7)
	}
	f.Fuzz(func(t *testing.T, stream []byte, seed uint64, most int) {
		if most < 1 || most > 1<<20 {
			most = 7
		}
		var whole, parts basket
		n, err := entries{resp.NewReader(bytes.NewReader(stream), nil)}.read(&whole)
		m, again := entries{resp.NewReader(sessiontest.Chunks(stream, rand.New(rand.NewPCG(seed, 4)), most), nil)}.read(&parts)
		if n != m || (err == nil) != (again == nil) || !slices.Equal(whole, parts) {
			t.Fatalf("at once %d %q %v, in parts %d %q %v", n, fmt.Sprint(whole), err, m, fmt.Sprint(parts), again)
		}
		size := 0
		for _, e := range whole {
			size += len(e.payload)
		}
		if size > len(stream) || err == nil && n != len(whole) {
			t.Fatalf("%d entries with %d bytes of %d", n, size, len(stream))
		}
	})
}

func TestWords(t *testing.T) {
	o := DefaultOptions()
	headers := []driver.Header{{Name: "a", Value: "bc"}}
	words := func(headers ...driver.Header) string { return strings.Join(o.words("k", headers), " ") }
	if got, want := words(), "XADD k * m"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got, want := words(headers...), "XADD k * a bc m"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	o.MaxLen, o.Field = 500, "payload"
	for trim, sign := range map[string]string{"approximate": "~", "exact": "="} {
		o.Trim = trim
		if got, want := words(), "XADD k MAXLEN "+sign+" 500 * payload"; got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestFormerClient(t *testing.T) {
	o := DefaultOptions()
	if err := driver.DecodeOptions(map[string]any{"client": "redigo"}, &o); err != nil || o.Client != resp.Library {
		t.Errorf("client %q, %v", o.Client, err)
	}
}

// After a reconnection the server gives again what was not acknowledged.
func TestWhatIsGivenAgainIsTakenOnce(t *testing.T) {
	c := &consumer{alone: true, noAck: true, fetching: fetchAgain, gate: kit.NewGate(func(driver.Message) {}),
		last: make([]id, 1), newest: make([]id, 1), taken: make([]atomic.Int64, 1)}
	for _, i := range []id{{1, 0}, {1, 1}, {2, 0}, {1, 0}, {1, 1}, {2, 0}, {2, 1}} {
		c.entry(0, i, []byte("x"))
	}
	if n := c.taken[0].Load(); n != 4 {
		t.Errorf("%d of 4 entries are counted as taken", n)
	}
}

// unanswered is a fetcher by which nothing comes.
type unanswered struct{}

func (unanswered) ack(int, []id)       {}
func (unanswered) send() error         { return nil }
func (unanswered) fetch() (int, error) { return 0, nil }

// The connection may end before the server has read an acknowledgement: until it has
// answered, Close acknowledges once more.
func TestAcknowledgedWhenTheServerSaysSo(t *testing.T) {
	for every, want := range map[int]int{1: 0, 2: 1} {
		c := &consumer{group: "g", every: every, prompt: true, fetching: fetchNew, from: unanswered{}, gate: kit.NewGate(func(driver.Message) {}),
			last: make([]id, 1), newest: make([]id, 1), taken: make([]atomic.Int64, 1), due: make([][]id, 1), asked: make([]int, 1)}
		for i := range uint64(3) {
			c.entry(0, id{1, i}, []byte("x"))
		}
		if !slices.Equal(c.due[0], []id{{1, 0}, {1, 1}, {1, 2}}) {
			t.Errorf("every %d: before an answer %v are kept", every, c.due[0])
		}
		if c.answered(); len(c.due[0]) != want || c.dues != want {
			t.Errorf("every %d: behind the answers %v are kept, %d are not asked for", every, c.due[0], c.dues)
		}
	}
}

package natswire

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"sixnines/driver"
	"sixnines/drivers/internal/kit"
	"sixnines/drivers/internal/sessiontest"
)

// parcel is a message as it was handed over.
type parcel struct{ subject, reply, payload string }

// sorted is a stream with its messages for routes taken out.
type sorted struct {
	parcels []parcel
	passed  string
}

// streamRoutes leads 1 to "a" and 3 to "b.c" into s.
func streamRoutes(s *sorted) *routes {
	t := new(routes)
	for sid, subject := range map[int]string{1: "a", 3: "b.c"} {
		t.set(sid, &route{subject, &Receiver{Gate: kit.NewGate(nil), Take: func(_, payload, reply []byte) {
			s.parcels = append(s.parcels, parcel{subject, string(reply), string(payload)})
		}}})
	}
	return t
}

// reference sorts a whole stream in the plainest way.
func reference(stream string) (s sorted) {
	for stream != "" {
		line, rest, ended := strings.Cut(stream, "\n")
		if strings.ContainsAny(stream[:1], "IP+-") && ended {
			s.passed += line + "\n"
			stream = rest
			continue
		}
		fields := strings.Split(strings.TrimSuffix(line, "\r"), " ")
		least := map[string]int{"MSG": 4, "HMSG": 5}[fields[0]]
		if !ended || len(line) > lineMost || !strings.HasSuffix(line, "\r") || least == 0 || len(fields) < least || len(fields) > least+1 || slices.Contains(fields, "") {
			break
		}
		digits := func(text string) (int, bool) {
			n, err := strconv.ParseUint(text, 10, 64)
			return int(n), err == nil && len(text) <= 9
		}
		sid, numbered := digits(fields[2])
		size, sized := digits(fields[len(fields)-1])
		if !numbered || !sized {
			break
		}
		if len(rest) < size+2 || rest[size:size+2] != "\r\n" {
			break
		}
		routed, headers := sid == 1 && fields[1] == "a" || sid == 3 && fields[1] == "b.c", 0
		if routed && fields[0] == "HMSG" {
			var ok bool
			headers, ok = digits(fields[len(fields)-2])
			routed = ok && headers >= len(headerStart) && headers <= size
			routed = routed && strings.HasPrefix(rest, headerStart)
		}
		if !routed {
			s.passed += line + "\n" + rest[:size+2]
			stream = rest[size+2:]
			continue
		}
		p := parcel{subject: fields[1], payload: rest[headers:size]}
		if len(fields) == least+1 {
			p.reply = fields[3]
		}
		s.parcels = append(s.parcels, p)
		stream = rest[size+2:]
	}
	s.passed += stream
	return s
}

// sift lets an frameReader sort a stream that comes and goes in pieces.
func sift(t *testing.T, stream string, random *rand.Rand, most int) (s sorted) {
	in := newFrameReader(sessiontest.Chunks([]byte(stream), random, most), streamRoutes(&s), func() {})
	var passed bytes.Buffer
	for {
		p := make([]byte, 1+random.IntN(most))
		n, err := in.Read(p)
		passed.Write(p[:n])
		if err != nil {
			if !errors.Is(err, io.EOF) {
				t.Fatal(err)
			}
			s.passed = passed.String()
			return s
		}
		if n == 0 {
			t.Fatal("nothing was read, and no error")
		}
	}
}

func (s sorted) same(t *testing.T, as sorted, stream string) {
	t.Helper()
	if !slices.Equal(s.parcels, as.parcels) {
		t.Errorf("handed over %.300q, want %.300q of %.300q", s.parcels, as.parcels, stream)
	}
	if s.passed != as.passed {
		t.Errorf("passed on %.300q, want %.300q of %.300q", s.passed, as.passed, stream)
	}
}

// frames returns what a server may write, with what is to become of it.
func frames(random *rand.Rand, count, most int) (stream string, want sorted) {
	var all, passed strings.Builder
	for range count {
		payload := make([]byte, random.IntN(most))
		for i := range payload {
			payload[i] = "MSG a 1\r\n+-"[random.IntN(11)]
		}
		reply, size := "", len(payload)
		if random.IntN(2) == 0 {
			reply = "_INBOX.x.y "
		}
		text := ""
		switch random.IntN(12) {
		case 0:
			text = "PING\r\n"
		case 1:
			text = "PONG\r\n"
		case 2:
			text = "+OK\r\n"
		case 3:
			text = "-ERR 'Permissions Violation for Publish to \"x\"'\r\n"
		case 4:
			text = fmt.Sprintf("INFO {\"name\":%q}\r\n", payload)
		case 5:
			status := []string{"abcde", "NATS/1.0 503\r\n\r\n", "NATS/1.0", "N"}[random.IntN(4)]
			text = fmt.Sprintf("HMSG a 1 %s%d %d\r\n%s%s\r\n", reply, len(status), size+len(status), status, payload)
		case 9:
			block := AppendHeaders(nil, []driver.Header{{Name: "a", Value: "b"}})
			fmt.Fprintf(&all, "HMSG a 1 %s%d %d\r\n%s\r\n%s\r\n", reply, len(block)+2, len(block)+2+size, block, payload)
			want.parcels = append(want.parcels, parcel{"a", strings.TrimSpace(reply), string(payload)})
		case 6:
			text = fmt.Sprintf("MSG a 2 %s%d\r\n%s\r\n", reply, size, payload)
		case 7:
			text = fmt.Sprintf("MSG x 3 %s%d\r\n%s\r\n", reply, size, payload)
		case 8:
			text = fmt.Sprintf("MSG a 99999 %s%d\r\n%s\r\n", reply, size, payload)
		default:
			sid, subject := 1, "a"
			if random.IntN(3) == 0 {
				sid, subject = 3, "b.c"
			}
			fmt.Fprintf(&all, "MSG %s %d %s%d\r\n%s\r\n", subject, sid, reply, size, payload)
			want.parcels = append(want.parcels, parcel{subject, strings.TrimSpace(reply), string(payload)})
		}
		all.WriteString(text)
		passed.WriteString(text)
	}
	want.passed = passed.String()
	return all.String(), want
}

func TestFrameReader(t *testing.T) {
	for seed := range uint64(200) {
		random := rand.New(rand.NewPCG(seed, 0))
		stream, want := frames(random, 40, 1+random.IntN(200))
		reference(stream).same(t, want, stream)
		sift(t, stream, random, 1+random.IntN(300)).same(t, want, stream)
	}
}

// TestFrameReaderOfLargeFrames wants the buffer to grow as far as it must.
func TestFrameReaderOfLargeFrames(t *testing.T) {
	for seed := range uint64(4) {
		random := rand.New(rand.NewPCG(seed, 1))
		stream, want := frames(random, 20, 400_000)
		sift(t, stream, random, 100_000).same(t, want, stream)
	}
}

// TestFrameReaderGivesUp passes on what no server writes, and all that follows.
func TestFrameReaderGivesUp(t *testing.T) {
	const after = "MSG a 1 1\r\nx\r\n"
	for name, odd := range map[string]string{
		"TLS":                "\x16\x03\x01",
		"text":               "HTTP/1.1 400 Bad Request\r\n\r\n",
		"lower case":         "msg a 1 1\r\nx\r\n",
		"two spaces":         "MSG a  1 1\r\nx\r\n",
		"tab":                "MSG\ta 1 1\r\nx\r\n",
		"no carriage return": "MSG a 1 1\nx\r\n",
		"no size":            "MSG a 1\r\nx\r\n",
		"negative size":      "MSG a 1 -1\r\nx\r\n",
		"huge size":          "MSG a 1 99999999999999999999\r\nx\r\n",
		"long line":          "MSG " + strings.Repeat("a", lineMost) + " 1 1\r\nx\r\n",
		"longer payload":     "MSG a 1 1\r\nxx\r\n",
		"empty reply":        "MSG a 1  1\r\nx\r\n",
	} {
		t.Run(name, func(t *testing.T) {
			stream := "PING\r\n" + after + odd + after
			want := sorted{[]parcel{{"a", "", "x"}}, "PING\r\n" + odd + after}
			for seed := range uint64(20) {
				sift(t, stream, rand.New(rand.NewPCG(seed, 2)), 20).same(t, want, stream)
			}
			sift(t, stream, rand.New(rand.NewPCG(0, 2)), 1<<20).same(t, want, stream)
		})
	}
}

// TestFrameReaderClaims reads the start of a message that says to be larger than what
// comes.
func TestFrameReaderClaims(t *testing.T) {
	var s sorted
	text := fmt.Sprintf("MSG a 1 %d\r\n%s", 64<<20, strings.Repeat("x", 1000))
	in := newFrameReader(strings.NewReader(text), streamRoutes(&s), func() {})
	passed, err := io.ReadAll(in)
	if err != nil || string(passed) != text {
		t.Errorf("got %d bytes, %v", len(passed), err)
	}
}

// TestRest wants rest called once the frameReader may have to wait after what came,
// and not before it has anything.
func TestRest(t *testing.T) {
	var s sorted
	var log []string
	t0 := streamRoutes(&s)
	pieces := []string{"PING\r\n", "MSG a 1 1\r\nx\r\nMSG a 1 1\r\ny\r\n", "PONG\r\n"}
	src := readerFunc(func(p []byte) (int, error) {
		if len(pieces) == 0 {
			return 0, io.EOF
		}
		log = append(log, "read")
		n := copy(p, pieces[0])
		pieces = pieces[1:]
		return n, nil
	})
	in := newFrameReader(src, t0, func() { log = append(log, fmt.Sprintf("rest after %d", len(s.parcels))) })
	if _, err := io.ReadAll(in); err != nil {
		t.Fatal(err)
	}
	if want := []string{"read", "rest after 0", "read", "rest after 2", "read", "rest after 2"}; !slices.Equal(log, want) {
		t.Errorf("got %q, want %q", log, want)
	}
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

func FuzzFrameReader(f *testing.F) {
	for seed := range uint64(8) {
		stream, _ := frames(rand.New(rand.NewPCG(seed, 3)), 10, 30)
		f.Add(stream, seed, 40)
	}
	f.Add("MSG a 1 5\r\nabcde\r\nMSG b.c 3 r 0\r\n\r\nHMSG a 1 2 3\r\nabc\r\nPI", uint64(1), 3)
	f.Add("HMSG a 1 12 15\r\nNATS/1.0\r\n\r\nabc\r\nHMSG a 1 r 16 16\r\nNATS/1.0 503\r\n\r\n\r\nMSG a 1 1\r\nx\r\n", uint64(1), 3)
	f.Add("MSG a 1 5\r\nabcdeMSG a 1 0\r\n\r\n", uint64(1), 1)
	f.Fuzz(func(t *testing.T, stream string, seed uint64, most int) {
		if most < 1 || most > 1<<20 {
			most = 7
		}
		want := reference(stream)
		sift(t, stream, rand.New(rand.NewPCG(seed, 4)), most).same(t, want, stream)
		sift(t, stream, rand.New(rand.NewPCG(seed, 4)), 1<<20).same(t, want, stream)
	})
}

// endless repeats a stream.
type endless struct {
	stream []byte
	at     int
}

func (e *endless) Read(p []byte) (n int, err error) {
	for n < len(p) {
		m := copy(p[n:], e.stream[e.at:])
		n += m
		e.at = (e.at + m) % len(e.stream)
	}
	return n, nil
}

// messages returns an frameReader of count messages of size bytes between pings, and
// how many have been handed over.
func messages(count, size int) (in *frameReader, handed *int) {
	handed = new(int)
	t := new(routes)
	t.set(1, &route{"s9.test.t0", &Receiver{Gate: kit.NewGate(nil), Take: func(_, _, _ []byte) { *handed++ }}})
	message := fmt.Sprintf("MSG s9.test.t0 1 %d\r\n%s\r\n", size, strings.Repeat("x", size))
	return newFrameReader(&endless{stream: []byte(strings.Repeat(message, count) + "PING\r\n")}, t, func() {}), handed
}

func TestFrameReaderDoesNotAllocate(t *testing.T) {
	in, handed := messages(1000, 256)
	p := make([]byte, 32<<10)
	for range 10 { // until the buffer has grown
		in.Read(p)
	}
	if n := testing.AllocsPerRun(100, func() { in.Read(p) }); n != 0 || *handed < 100_000 {
		t.Errorf("%v allocations for each 1000 messages, %d messages", n, *handed)
	}
}

func BenchmarkFrameReader(b *testing.B) {
	for _, size := range []int{16, 256, 1024} {
		b.Run(strconv.Itoa(size), func(b *testing.B) {
			in, handed := messages(1000, size)
			p := make([]byte, 32<<10)
			b.ReportAllocs()
			for *handed < b.N {
				in.Read(p)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(*handed), "ns/message")
		})
	}
}

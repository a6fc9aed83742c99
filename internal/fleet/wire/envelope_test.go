package wire

import (
	"bytes"
	"encoding/json"
	"errors"
	"runtime"
	"strings"
	"testing"
	"time"
)

const version = "1.2.3 (0123456)"

// id is that of an agent.
const id = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"

func hello() Hello {
	return Hello{ID: id, Name: "rack-1.a", Labels: map[string]string{"zone": "b", "app": "<load>"}, Host: "h1", Boot: "boot", Clock: "boot:1 time:[1]", System: "linux/amd64",
		Cores: 2, PID: 17, Started: time.Date(2026, 11, 27, 9, 0, 0, 5, time.UTC), Curve: "XABC", Allows: Allows{Drivers: []string{"nats"}, Targets: []string{"10.0.0.1:4222"}, Rate: 1000}}
}

// messages returns a message of each kind, with all its fields set.
func messages() []Message {
	h := hello()
	segment := Segment{Number: 1, Of: 3, Detail: []byte{0, 1, 255}}
	return []Message{
		&h,
		&Plan{Run: "run-1", Scenario: "name: a\n# <b> & ü\n", Segment: segment, Sealed: []byte("x"), Sender: "XABC", Shared: true, Patience: time.Minute, Limit: time.Hour},
		&Answer{Refused: RefusedForbidden, Why: "the target is not allowed"},
		&Answer{At: "10.0.0.1:40001"},
		&Peer{Run: "run-1", Pair: 2, Second: true, Of: "[fe80::1%eth0]:40001", Key: make([]byte, PeerKey)},
		&Peer{Run: "run-1"},
		&Go{Run: "run-1", Point: Ready, At: 12345, Bound: 7},
		&Clock{Run: "run-1", At: 12345, Offset: -7, Drift: -1.5e-6},
		&Stop{Run: "run-1", AtOnce: true, Why: "asked to"},
		&Confirm{Run: "run-1", Records: 12},
		&Ask{},
		&Status{ID: id, State: Delivering, Run: "run-1", Point: Closed, Late: -5, Records: 9, Delivered: 8, Ending: Left, Why: "evicted",
			Told: []Told{{Pair: 1, Raw: true, All: [][4]int64{{1, -2, 3, 4}, {5, 6, 7, 8}}}, {Pair: 2, All: [][4]int64{{}}}}},
		&Stamps{Times: [4]int64{1, -2, 3, 1 << 60}, At: 9, Ahead: -5, Width: 102, Kernel: true, Clock: 1 << 63},
		&Pulse{Run: "run-1"},
		&Manifest{Run: "run-1", Scenario: "{}", Members: Members{{Hello: h, Segment: segment, Offset: -3, Bound: 4}, {Hello: h, Segment: Segment{Of: 1}}}, Clock: "c", Start: 5, Limit: 6, Patience: int64(time.Second)},
	}
}

// empty returns the zero value of a message's type.
func empty(k Kind) Message {
	switch k {
	case KindHello:
		return &Hello{}
	case KindPlan:
		return &Plan{}
	case KindAnswer:
		return &Answer{}
	case KindGo:
		return &Go{}
	case KindClock:
		return &Clock{}
	case KindStop:
		return &Stop{}
	case KindConfirm:
		return &Confirm{}
	case KindAsk:
		return &Ask{}
	case KindStatus:
		return &Status{}
	case KindStamps:
		return &Stamps{}
	case KindPulse:
		return &Pulse{}
	case KindManifest:
		return &Manifest{}
	case KindPeer:
		return &Peer{}
	}
	return nil
}

func TestMessagesAreReadAsTheyWereWritten(t *testing.T) {
	for _, m := range messages() {
		text, err := Encode(version, m)
		if err != nil {
			t.Errorf("%s: %v", m.Kind(), err)
			continue
		}
		again := empty(m.Kind())
		if err := Decode(version, text, again); err != nil {
			t.Errorf("%s: %v", m.Kind(), err)
			continue
		}
		if back, err := Encode(version, again); err != nil || !bytes.Equal(back, text) {
			t.Errorf("%s: %s, %v; want %s", m.Kind(), back, err, text)
		}
	}
}

func TestOtherVersionsAreNamed(t *testing.T) {
	text, err := Encode("1.2.2", &Pulse{Run: "r"})
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		text string
		says []string
	}{
		{string(text), []string{"1.2.2", version, "same version"}},
		// A later version's messages may have keys that this one does not know.
		{`{"protocol":2,"version":"2.0","kind":"pulse","body":{"run":"r","new":1},"more":[]}`, []string{"2.0", version}},
		{`{"protocol":2,"version":"` + version + `","kind":"pulse","body":{}}`, []string{"protocol 2", "protocol 1", version}},
	} {
		err := Decode(version, []byte(tt.text), &Pulse{})
		var skew *Skew
		if !errors.As(err, &skew) {
			t.Errorf("%s: %v; want a skew of versions", tt.text, err)
			continue
		}
		for _, s := range tt.says {
			if !strings.Contains(err.Error(), s) {
				t.Errorf("%s: %v; want %q in it", tt.text, err, s)
			}
		}
	}
}

func TestForeignMessagesAreRefused(t *testing.T) {
	of := func(kind Kind, body string) string {
		return `{"protocol":1,"version":"` + version + `","kind":"` + string(kind) + `","body":` + body + `}`
	}
	for _, tt := range []struct{ name, text string }{
		{"nothing", ""},
		{"no JSON", "hello"},
		{"null", "null"},
		{"a list", "[]"},
		{"no version", `{"protocol":1,"version":"","kind":"pulse","body":{"run":"r"}}`},
		{"another kind", of(KindStop, `{"run":"r"}`)},
		{"an unknown key", of(KindPulse, `{"run":"r","x":1}`)},
		{"a key twice", of(KindPulse, `{"run":"q","run":"r"}`)},
		{"a key in capitals", of(KindPulse, `{"Run":"r"}`)},
		{"a space", of(KindPulse, `{"run": "r"}`)},
		{"more behind it", of(KindPulse, `{"run":"r"}`) + "{}"},
		{"a newline in a name", of(KindPulse, `{"run":"r\n"}`)},
		{"a name with a point", of(KindPulse, `{"run":"a.b"}`)},
		{"a wildcard", of(KindPulse, `{"run":"*"}`)},
		{"no name", of(KindPulse, `{"run":""}`)},
		{"too long", of(KindPulse, `{"run":"`+strings.Repeat("r", 1<<20)+`"}`)},
	} {
		if err := Decode(version, []byte(tt.text), &Pulse{}); !errors.Is(err, ErrMalformed) {
			t.Errorf("%s: %v", tt.name, err)
		}
	}
	if err := Decode(version, []byte(of(KindPulse, `{"run":"r"}`)), &Pulse{}); err != nil {
		t.Error(err)
	}
}

// Values that a type allows and a message does not are refused on both sides.
func TestBounds(t *testing.T) {
	for _, m := range []Message{
		&Plan{Run: "r", Scenario: "{}", Segment: Segment{Number: 3, Of: 3}, Patience: time.Second, Limit: time.Second},
		&Plan{Run: "r", Scenario: "{}", Segment: Segment{Of: 1}, Patience: time.Second},
		&Plan{Run: "r", Scenario: "{}", Segment: Segment{Of: 1}, Limit: time.Second},
		&Plan{Run: "r", Segment: Segment{Of: 1}, Patience: time.Second, Limit: time.Second},
		&Plan{Run: "r", Scenario: "{}", Sealed: []byte{1}, Segment: Segment{Of: 1}, Patience: time.Second, Limit: time.Second},
		&Go{Run: "r", Point: "elsewhere"},
		&Go{Run: "r", Point: Ready},
		&Go{Run: "r", Point: Closed, At: 1},
		&Go{Run: "r", Point: Ready, At: -1},
		&Status{ID: id, State: Idle, Run: "r"},
		&Status{ID: id, State: Running},
		&Status{ID: id, State: "asleep"},
		&Status{ID: id, State: Running, Run: "r", Ending: Died},
		&Status{ID: id, State: Running, Run: "r", Delivered: 1},
		&Status{ID: "x", State: Idle},
		&Stamps{Times: [4]int64{1, 2, 3, 1<<60 + 1}, Width: 1},
		&Stamps{Times: [4]int64{1, 2, -1<<60 - 1}, Width: 1},
		&Stamps{Ahead: 1<<60 + 1, Width: 1},
		&Stamps{At: 1<<60 + 1, Width: 1},
		&Stamps{},
		&Stamps{Width: 1e9 + 1},
		&Answer{Why: "two\nlines"},
		&Answer{Why: strings.Repeat("x", maxSentence+1)},
		&Manifest{Run: "r", Scenario: "{}", Clock: "c", Start: 1, Limit: 1},
		&Peer{Run: "r", Pair: -1},
		&Peer{Run: "r", Pair: MaxAgents},
		&Peer{Run: "r", Of: "10.0.0.1:1"},
		&Peer{Run: "r", Of: "10.0.0.1:1", Key: make([]byte, PeerKey-1)},
		&Peer{Run: "r", Key: make([]byte, PeerKey)},
		&Peer{Run: "r", Of: "h1:1", Key: make([]byte, PeerKey)},
		&Peer{Run: "r", Of: "10.0.0.1:0", Key: make([]byte, PeerKey)},
		&Peer{Run: "r", Of: "0.0.0.0:1", Key: make([]byte, PeerKey)},
		&Peer{Run: "r", Of: "255.255.255.255:1", Key: make([]byte, PeerKey)},
		&Peer{Run: "r", Of: "224.0.0.1:1", Key: make([]byte, PeerKey)},
		&Peer{Of: "10.0.0.1:1", Key: make([]byte, PeerKey)},
		&Answer{At: "h1"},
		&Status{ID: id, State: Idle, Told: []Told{{Pair: 1}}},
		&Status{ID: id, State: Idle, Told: []Told{{Pair: -1, All: make([][4]int64, 1)}}},
		&Status{ID: id, State: Idle, Told: []Told{{All: make([][4]int64, MostTold+1)}}},
		&Status{ID: id, State: Idle, Told: make([]Told, MostPeers+1)},
	} {
		if text, err := Encode(version, m); err == nil {
			t.Errorf("%s is written", text)
		}
		body, err := json.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		text, err := json.Marshal(envelope{Protocol, version, m.Kind(), body})
		if err != nil {
			t.Fatal(err)
		}
		if err := Decode(version, text, empty(m.Kind())); !errors.Is(err, ErrMalformed) {
			t.Errorf("%s is read: %v", text, err)
		}
	}
}

// What a hostile message makes of memory is in proportion to what its kind may be long.
func TestMemoryOfHostileMessages(t *testing.T) {
	wrap := func(k Kind, open, fill, end string) []byte {
		head := `{"protocol":1,"version":"` + version + `","kind":"` + string(k) + `","body":` + open
		n := (empty(k).most() - len(head) - len(end) - 1) / len(fill)
		return []byte(head + strings.Repeat(fill, n) + end + "}")
	}
	for _, tt := range []struct {
		name string
		kind Kind
		text []byte
	}{
		{"empty members", KindManifest, wrap(KindManifest, `{"members":[{}`, `,{}`, `]}`)},
		{"labels", KindHello, wrap(KindHello, `{"labels":{"a":""`, `,"":""`, `}}`)},
		{"drivers", KindHello, wrap(KindHello, `{"allows":{"drivers":[""`, `,""`, `]}}`)},
		{"deep", KindPlan, wrap(KindPlan, `{"x":`, `[`, ``)},
		{"control characters", KindPlan, wrap(KindPlan, `{"scenario":"`, `\u0000`, `"}`)},
		{"base64", KindPlan, wrap(KindPlan, `{"sealed":"`, `AAAA`, `"}`)},
		{"keys", KindPulse, wrap(KindPulse, `{"a":1`, `,"a":1`, `}`)},
		{"exchanges", KindStatus, wrap(KindStatus, `{"told":[{"all":[[]`, `,[]`, `]}]}`)},
		{"pairs", KindStatus, wrap(KindStatus, `{"told":[{}`, `,{}`, `]}`)},
	} {
		m := empty(tt.kind)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		err := Decode(version, tt.text, m)
		runtime.ReadMemStats(&after)
		if !errors.Is(err, ErrMalformed) {
			t.Errorf("%s: %v", tt.name, err)
		}
		// Other goroutines of the test allocate little. An element of a list of words is 16 bytes for
		// three of text, and a list grows by copying.
		if got, most := after.TotalAlloc-before.TotalAlloc, uint64(24*empty(tt.kind).most()+1<<20); got > most {
			t.Errorf("%s: %d bytes allocated for a message of %d; at most %d", tt.name, got, len(tt.text), most)
		}
	}
}

func TestLinesAreFitForMessages(t *testing.T) {
	for _, text := range []string{"", "two\nlines\x1b[31m", strings.Repeat("ü", maxSentence), "\xff\xfe"} {
		if err := (&Answer{Why: Line(text)}).Check(); err != nil {
			t.Errorf("%.20q: %v", text, err)
		}
	}
}

func FuzzDecode(f *testing.F) {
	for _, m := range messages() {
		text, err := Encode(version, m)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(m.Kind()), text)
	}
	f.Fuzz(func(t *testing.T, kind string, text []byte) {
		m := empty(Kind(kind))
		if m == nil {
			return
		}
		err := Decode(version, text, m)
		if err == nil {
			if again, err := Encode(version, m); err != nil || !bytes.Equal(again, text) {
				t.Errorf("%s is taken and written as %s, %v", text, again, err)
			}
			return
		}
		if skew := (*Skew)(nil); !errors.Is(err, ErrMalformed) && !errors.As(err, &skew) {
			t.Errorf("%s: %v", text, err)
		}
	})
}

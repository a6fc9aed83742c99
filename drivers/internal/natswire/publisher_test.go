package natswire

import (
	"strings"
	"testing"
)

// TestTags wants the tag that a message goes out with to be read from the
// subject of its answer, by whichever way it goes.
func TestTags(t *testing.T) {
	const inbox = "_INBOX.abc.7"
	for _, size := range []int{1, 1 << 10} { // without and with a batch
		for _, tag := range []uint64{0, 1, 31, 32, 1 << 30, 1<<56 - 1} {
			s := &sink{breaks: -1}
			l, _ := linkTo(s, size)
			p := NewPublisher(l)
			for _, header := range [][]byte{nil, []byte("NATS/1.0\r\nA: b\r\n\r\n")} {
				s.got.Reset()
				p.AddressTagged("a.b", inbox, header != nil)
				if err := p.PublishTagged(tag, header, []byte("hello")); err != nil {
					t.Fatal(err)
				}
				if err := l.FlushBatch(); err != nil {
					t.Fatal(err)
				}
				words := strings.Fields(s.got.String())
				want, rest := "PUB", "5 hello"
				if header != nil {
					want, rest = "HPUB", "18 23 NATS/1.0 A: b hello"
				}
				if words[0] != want || words[1] != "a.b" || strings.Join(words[3:], " ") != rest {
					t.Errorf("wrote %q", s.got.String())
				}
				if got, ok := ParseTag([]byte(words[2]), len(inbox)); !ok || got != tag {
					t.Errorf("tag %d came as %s: %d, %v", tag, words[2], got, ok)
				}
				if n := unwritten(s.got.Bytes(), 0); n != 1 {
					t.Errorf("%q counts as %d frames", s.got.String(), n)
				}
			}
		}
	}
	for _, subject := range []string{"", inbox, inbox + ".", inbox + ".w", inbox + ".1.2", inbox + ".0123456789abc"} {
		if tag, ok := ParseTag([]byte(subject), len(inbox)); ok {
			t.Errorf("%q has the tag %d", subject, tag)
		}
	}
}

// TestRoutesByPrefix leads what begins like a wildcard subscription to it.
func TestRoutesByPrefix(t *testing.T) {
	var all routes
	all.set(3, &route{routeOf("_INBOX.a.*"), nil})
	for subject, want := range map[string]bool{"_INBOX.a.1": true, "_INBOX.a.": false, "_INBOX.a": false, "_INBOX.ab.1": false, "": false} {
		if got := all.find(3, []byte(subject)) != nil; got != want {
			t.Errorf("%q is led there: %v", subject, got)
		}
	}
}

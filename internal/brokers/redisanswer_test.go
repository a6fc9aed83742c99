package brokers

import (
	"bufio"
	"slices"
	"strings"
	"testing"
)

func TestRedisAnswer(t *testing.T) {
	for text, want := range map[string][]string{
		"+PONG\r\n":                            {"PONG"},
		":3\r\n":                               {"3"},
		"$3\r\na\nb\r\n":                       {"a\nb"},
		"*2\r\n$9\r\n127.0.0.1\r\n$1\r\n7\r\n": {"127.0.0.1", "7"},
		"*3\r\n$-1\r\n:1\r\n*1\r\n+x\r\n":      {"1", "x"},
		"*-1\r\n":                              nil,
	} {
		if got, err := redisAnswer(bufio.NewReader(strings.NewReader(text))); err != nil || !slices.Equal(got, want) {
			t.Errorf("%q: %q, %v; want %q", text, got, err, want)
		}
	}
	for _, text := range []string{"", "\r\n", "-ERR no\r\n", "$x\r\n", "$9\r\nshort", "*2\r\n+one\r\n", "*99999999\r\n", "hello\r\n"} {
		if got, err := redisAnswer(bufio.NewReader(strings.NewReader(text))); err == nil {
			t.Errorf("%q: %q", text, got)
		}
	}
}

func FuzzRedisAnswer(f *testing.F) {
	f.Add("*2\r\n$9\r\n127.0.0.1\r\n$1\r\n7\r\n")
	f.Add("*1\r\n*1\r\n$-1\r\n")
	f.Fuzz(func(t *testing.T, text string) {
		if got, err := redisAnswer(bufio.NewReader(strings.NewReader(text))); err != nil && got != nil {
			t.Errorf("%v, and yet %q", err, got)
		}
	})
}

func TestRabbitPlacement(t *testing.T) {
	nodes := []rabbitNode{{name: "rabbit-1"}, {name: "rabbit-2"}, {name: "rabbit-3"}}
	p, err := rabbitPlacement("rabbit-2@localhost rabbit-1@localhost rabbit-2@localhost rabbit-3@localhost", nodes)
	if err != nil || p.Leader != 1 || !slices.Equal(p.Followers, []int{0, 2}) {
		t.Errorf("%+v, %v", p, err)
	}
	for _, said := range []string{"", "undefined rabbit-1@localhost", "rabbit-1@localhost rabbit-9@localhost"} {
		if p, err := rabbitPlacement(said, nodes); err == nil {
			t.Errorf("%q: %+v", said, p)
		}
	}
	if got, want := erlangBinary(`q"é`), "<<113,34,195,169>>"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

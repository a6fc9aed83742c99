package resp

import (
	"errors"
	"strings"
	"testing"

	"sixnines/driver"
)

func TestParseAddress(t *testing.T) {
	for text, want := range map[string]Address{
		"redis://host":                        {Network: "tcp", Place: "host:6379", Host: "host", Database: -1},
		"host:7000":                           {Network: "tcp", Place: "host:7000", Host: "host", Database: -1},
		" rediss://ada:a%40b@host:1/3 ":       {Network: "tcp", Place: "host:1", Host: "host", TLS: true, User: "ada", Password: "a@b", Database: 3},
		"redis://:secret@[::1]:7":             {Network: "tcp", Place: "[::1]:7", Host: "::1", Password: "secret", Database: -1},
		"redis://host/?db=4":                  {Network: "tcp", Place: "host:6379", Host: "host", Database: 4},
		"unix:///run/redis.sock":              {Network: "unix", Place: "/run/redis.sock", Database: -1},
		"unix://ada:pw@/run/redis.sock?db=12": {Network: "unix", Place: "/run/redis.sock", User: "ada", Password: "pw", Database: 12},
	} {
		if got, err := ParseAddress(text); err != nil || got != want {
			t.Errorf("%q: %+v, %v; want %+v", text, got, err, want)
		}
	}
	for _, text := range []string{
		"", "redis://", "http://host", "redis://host/x", "redis://host/-1", "redis://a:1,b:2", "unix://run/redis.sock", "unix:///", "redis://ada:secret@host:port",
		"redis://ada:secret@host/1?db=2", "redis://ada:secret@host?timeout=1", "://", "redis://ada:secret@ho st",
	} {
		_, err := ParseAddress(text)
		if !errors.Is(err, driver.ErrOption) {
			t.Errorf("%q: %v", text, err)
		} else if strings.Contains(err.Error(), "secret") {
			t.Errorf("%q: the error shows the password: %v", text, err)
		}
	}
}

func TestOutputLimit(t *testing.T) {
	for text, want := range map[string]string{
		"normal 0 0 0 slave 268435456 67108864 60 pubsub 33554432 8388608 60": "32MiB behind, or 8MiB behind for 60 s",
		"pubsub 0 0 0":    "",
		"pubsub 1024 0 0": "1KiB behind",
	} {
		s := Server{Settings: map[string]string{OutputLimits: text}}
		if got, ok := s.OutputLimit("pubsub"); !ok || got.String() != want {
			t.Errorf("%q: %q, %v; want %q", text, got, ok, want)
		}
	}
	for _, text := range []string{"", "normal 0 0 0", "pubsub", "pubsub 1 2", "pubsub a b c"} {
		s := Server{Settings: map[string]string{OutputLimits: text}}
		if got, ok := s.OutputLimit("pubsub"); ok {
			t.Errorf("%q: %q", text, got)
		}
	}
}

func TestLimit(t *testing.T) {
	s := Server{Settings: map[string]string{"proto-max-bulk-len": "1000", "client-query-buffer-limit": "900"}}
	if err := s.Check(900); err != nil {
		t.Error(err)
	}
	if err := s.Check(901); !errors.Is(err, driver.ErrTooLarge) || !strings.Contains(err.Error(), "client-query-buffer-limit") {
		t.Error(err)
	}
	if err := (Server{}).Check(1 << 40); err != nil {
		t.Errorf("nothing is known, and yet: %v", err)
	}
}

func TestReplyErrors(t *testing.T) {
	for text, want := range map[string]error{
		"WRONGPASS invalid username-password pair or user is disabled.": driver.ErrUnauthorized,
		"NOAUTH Authentication required.":                               driver.ErrUnauthorized,
		"NOPERM this user has no permissions":                           driver.ErrUnauthorized,
		"OOM command not allowed when used memory > 'maxmemory'.":       driver.ErrRejected,
		"MISCONF Errors writing to the AOF file: No space left":         driver.ErrRejected,
		"ERR Protocol error: invalid bulk length":                       driver.ErrTooLarge,
		"LOADING Redis is loading the dataset in memory":                driver.ErrNotConnected,
		"NOGROUP No such key":                                           driver.ErrNoTopic,
		"ERR unknown command 'SPUBLISH'":                                driver.ErrUnsupported,
		"MOVED 3999 127.0.0.1:6381":                                     driver.ErrUnsupported,
	} {
		if err := ReplyError(text); !errors.Is(err, want) || !strings.Contains(err.Error(), text) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

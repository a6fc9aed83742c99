package resp

import (
	"errors"
	"strings"
	"testing"

	"sixnines/driver"
)

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

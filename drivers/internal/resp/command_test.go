package resp

import (
	"fmt"
	"testing"
)

func TestCommand(t *testing.T) {
	c := NewCommand("XADD", "k", "*", "m")
	if got, want := string(c.head), "*5\r\n$4\r\nXADD\r\n$1\r\nk\r\n$1\r\n*\r\n$1\r\nm\r\n"; got != want {
		t.Errorf("head %q, want %q", got, want)
	}
	if got := fmt.Sprintf("%s %s", c.name, c.with([]byte("x"))); got != "XADD [k * m x]" {
		t.Errorf("by redigo: %q", got)
	}
	ask := question(false)
	if got := fmt.Sprintf("%q %s %s", ask.head, ask.name, ask.with(nil)); got != `"*1\r\n$4\r\nPING\r\n" PING []` {
		t.Errorf("a command without a payload: %s", got)
	}
}

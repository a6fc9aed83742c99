package pid

import (
	"errors"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// zeros returns n fields that parseStat does not read.
func zeros(n int) string { return strings.Repeat("0 ", n) }

func TestParseStat(t *testing.T) {
	state, started, err := parseStat([]byte("4711 (a) b (c) T " + zeros(18) + "9000 0 " + zeros(28)))
	if err != nil || state != 'T' || started != 9000 {
		t.Errorf("read %c, %d (%v)", state, started, err)
	}
}

func FuzzParseStat(f *testing.F) {
	f.Add([]byte("1 (init) S " + zeros(30)))
	f.Add([]byte("1 (in)it) S 1 2"))
	f.Add([]byte(")"))
	f.Fuzz(func(t *testing.T, text []byte) {
		if state, started, err := parseStat(text); err != nil && (state != 0 || started != 0) {
			t.Errorf("%v, and yet %c and %d", err, state, started)
		}
	})
}

// A process is alive by its number and start until it has ended, waited for or not.
func TestAlive(t *testing.T) {
	c := exec.Command("sleep", "600")
	in, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	start, err := Start(c.Process.Pid)
	if err != nil || !Alive(c.Process.Pid, start) || Alive(c.Process.Pid, start+"0") {
		t.Errorf("it lives, since %s: %v", start, err)
	}
	c.Process.Kill()
	in.Read(make([]byte, 1)) // its end closes the pipe
	if err := c.Wait(); err == nil {
		t.Error("it ended well")
	}
	if _, err := Start(c.Process.Pid); Alive(c.Process.Pid, start) || !errors.Is(err, os.ErrNotExist) {
		t.Errorf("it has ended: %v", err)
	}
}

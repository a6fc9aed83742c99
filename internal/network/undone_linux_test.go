package network

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"sixnines/internal/journal"
	"sixnines/scenario"
)

// holdCommand makes the test's program one that has conditions in effect until it is killed.
const holdCommand = "__hold"

// held is what that program reads.
type held struct {
	Ways    []Way
	Journal string // its directory
	Without []Means
}

func hold() {
	var h held
	err := json.NewDecoder(os.Stdin).Decode(&h)
	m := Look()
	for _, w := range h.Without {
		m.Why[w] = "the test is of another means"
	}
	plan, e := m.Plan(h.Ways)
	if err = errorOf(err, e); err == nil {
		var p *Path
		if p, err = plan.Prepare(Options{Command: queues(), Journal: journal.New(h.Journal)}); err == nil {
			_, err = p.Begin()
		}
	}
	fmt.Println(plan.String(), err)
	select {}
}

func errorOf(a, b error) error {
	if a != nil {
		return a
	}
	return b
}

// cases are conditions by each means.
func cases() []struct {
	means      Means
	conditions scenario.Conditions
	without    []Means
} {
	return []struct {
		means      Means
		conditions scenario.Conditions
		without    []Means
	}{
		{TCX, scenario.Conditions{Loss: 1}, []Means{Netem}},
		{TBF, scenario.Conditions{Rate: 1_000_000}, []Means{Netem}},
		{NFQueue, scenario.Conditions{Delay: 10 * time.Second, Jitter: time.Second, Loss: 0.5, Reorder: 0.1, Rate: 1_000_000}, []Means{Netem, TCX, TBF}},
		{Netem, scenario.Conditions{Delay: time.Second, Reorder: 0.5}, nil},
	}
}

// Links, disciplines, rules and queues are after the conditions what they were before.
func TestMachineIsAsBefore(t *testing.T) {
	for _, c := range cases() {
		t.Run(string(c.means), func(t *testing.T) {
			l := newLab(t, c.means)
			server := l.listen(t)
			before := l.states(t)
			m := Look()
			for _, w := range c.without {
				m.Why[w] = "the test is of another means"
			}
			ways := l.ways(uint16(server.Addr().(*net.TCPAddr).Port))
			for i := range ways {
				ways[i].Conditions = c.conditions
			}
			plan, err := m.Plan(ways)
			if err != nil {
				t.Fatal(err)
			}
			p, err := plan.Prepare(Options{Command: queues()})
			if err != nil {
				t.Fatal(err)
			}
			begin(t, p)
			if l.states(t) == before {
				t.Error("the conditions changed nothing that this test looks at")
			}
			if err := p.Close(); err != nil {
				t.Fatal(err)
			}
			if after := l.states(t); after != before {
				t.Errorf("before:\n%s\nafter:\n%s", before, after)
			}
		})
	}
}

// A process that is killed with conditions in effect leaves a path that is whole at once where the means says
// so, and traces in its journal by which the rest is removed.
func TestKilledProcessLeavesNothing(t *testing.T) {
	for _, c := range cases() {
		t.Run(string(c.means), func(t *testing.T) {
			l := newLab(t, c.means)
			server := l.listen(t)
			echo(server)
			before := l.states(t)
			ways := l.ways(uint16(server.Addr().(*net.TCPAddr).Port))
			for i := range ways {
				ways[i].Conditions = c.conditions
			}
			dir := t.TempDir()
			spec, err := json.Marshal(held{ways, dir, c.without})
			if err != nil {
				t.Fatal(err)
			}
			killed := exec.Command(os.Args[0], holdCommand)
			killed.Stdin, killed.Stderr = strings.NewReader(string(spec)), os.Stderr
			out, err := killed.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := killed.Start(); err != nil {
				t.Fatal(err)
			}
			line, _ := bufio.NewReader(out).ReadString('\n')
			if !strings.HasSuffix(line, "<nil>\n") || !strings.Contains(line, string(c.means)) {
				t.Errorf("it says %q", line)
			}
			if l.states(t) == before {
				t.Error("the conditions changed nothing that this test looks at")
			}
			if err := killed.Process.Kill(); err != nil {
				t.Fatal(err)
			}
			_ = killed.Wait()
			if c.means == TCX || c.means == NFQueue {
				roundTrips(t, l.dial(t, server.Addr()), 3) // the path is whole
			}
			findings, err := journal.Recover(t.Context(), dir, Kinds())
			if err != nil || len(findings) == 0 {
				t.Errorf("%d findings, %v", len(findings), err)
			}
			for _, f := range findings {
				if f.State != journal.Undone {
					t.Errorf("%+v", f)
				}
			}
			after := l.states(t)
			for range 100 { // the process of the queues ends by itself
				if after == before {
					return
				}
				time.Sleep(20 * time.Millisecond)
				after = l.states(t)
			}
			t.Errorf("before:\n%s\nafter:\n%s", before, after)
		})
	}
}

// states are those of both namespaces of a lab.
func (l lab) states(t *testing.T) string {
	t.Helper()
	return state(t, l.client) + state(t, l.broker)
}

// A path that is prepared carries packets at once, and so does one whose conditions are over: what a queue held leaves then. The
// delay is longer than any test waits.
func TestPacketsPassBesideTheConditions(t *testing.T) {
	l := newLab(t, NFQueue)
	server := l.listen(t)
	echo(server)
	p := prepared(t, l, server.Addr().(*net.TCPAddr).Port, scenario.Conditions{Delay: time.Hour}, NFQueue)
	c := l.dial(t, server.Addr())
	roundTrips(t, c, 20)
	begun := begin(t, p)
	if _, err := c.Write(make([]byte, 64)); err != nil {
		t.Fatal(err)
	}
	if err := c.SetReadDeadline(time.Now().Add(50 * time.Millisecond)); err != nil {
		t.Fatal(err)
	}
	if n, err := c.Read(make([]byte, 64)); err == nil {
		t.Errorf("%d bytes came back at once", n)
	}
	during := p.Instants()
	over, err := p.End()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.SetReadDeadline(time.Time{}); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(c, make([]byte, 64)); err != nil {
		t.Fatal(err)
	}
	roundTrips(t, c, 20) // the rules are still there
	for i, after := range p.Instants() {
		if b := during[i]; b.Asked == 0 || b.Asked > b.Done || b.Done > begun || after.Asked < begun || after.Asked > after.Done || after.Done > over {
			t.Errorf("began at %+v, before %d; was over at %+v, before %d", b, begun, after, over)
		}
	}
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	if n := p.Counts(); n[0].Packets == 0 || n[0].Lost+n[0].Overflow+n[1].Lost+n[1].Overflow != 0 {
		t.Errorf("%+v", n)
	}
}

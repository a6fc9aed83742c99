package network

import (
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"sixnines/scenario"
)

func TestPlan(t *testing.T) {
	at := []netip.AddrPort{netip.MustParseAddrPort("10.0.0.2:4222")}
	ours := Way{Name: "to brokers", To: at, Out: Device{Name: "a"}, In: Device{Name: "b"}}
	loop := Way{Name: "to brokers", To: at}
	away := Way{Name: "to brokers", To: at, Leaves: true}
	dials := Way{Name: "to brokers", To: at, Unrelayed: "it dials"}
	privileged := []Means{Netem, TCX, TBF, NFQueue}
	all := scenario.Conditions{Delay: time.Millisecond, Loss: 0.1, Rate: 1e6}
	jitter := scenario.Conditions{Delay: time.Millisecond, Jitter: time.Millisecond, Loss: 0.1}
	for _, tt := range []struct {
		name    string
		way     Way
		c       scenario.Conditions
		without []Means
		want    string // Plan.String, or a part of the error
		not     string // part of a sentence of why a better means is not used
	}{
		{"netem does all but loss", ours, all, nil, "to brokers: delay, rate by netem; to brokers: loss by tcx", ""},
		{"netem reorders by jitter", ours, jitter, nil, "to brokers: loss by tcx; to brokers: delay, jitter by nfqueue", ""},
		{"without netem", ours, all, []Means{Netem}, "to brokers: loss by tcx; to brokers: rate by tbf; to brokers: delay by nfqueue", "netem: broken"},
		{"on loopback", loop, all, nil, "to brokers: delay, loss, rate by nfqueue", "device that sixnines creates"},
		{"another machine", away, all, nil, "to brokers: delay, loss, rate by nfqueue", ""},
		{"another machine, reordered", away, scenario.Conditions{Delay: 1, Reorder: 0.1}, nil, "from-brokers", ""},
		{"no privileges", loop, scenario.Conditions{Delay: 1, Rate: 1e6}, privileged, "to brokers: delay, rate by relay", "nfqueue: broken"},
		{"no privileges, another machine", away, scenario.Conditions{Delay: 2, Jitter: 1}, privileged, "to brokers: delay, jitter by relay", ""},
		{"no privileges, loss", loop, all, privileged, "nfqueue: broken; relay, which needs no privileges: TCP hides packets", ""},
		{"no privileges, a client that dials", dials, scenario.Conditions{Delay: 1}, privileged, "relay: it dials", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m := Machine{Why: map[Means]string{}}
			for _, w := range tt.without {
				m.Why[w] = "broken"
			}
			tt.way.Conditions = tt.c
			p, err := m.Plan([]Way{tt.way})
			if err != nil {
				if !strings.Contains(err.Error(), tt.want) {
					t.Errorf("error %v, want %q in it", err, tt.want)
				}
				return
			}
			if got := p.String(); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
			if !strings.Contains(strings.Join(p.Not, "\n"), tt.not) {
				t.Errorf("%q does not say %q", p.Not, tt.not)
			}
		})
	}
}

// All means together can do every aspect, and nfqueue can do all: what is asked is refused only where
// means are missing. The relay, which is never missing, cannot do what TCP hides from it.
func TestMeansCanDoAll(t *testing.T) {
	all := aspects(scenario.Conditions{Delay: 1, Jitter: 1, Loss: 1, Reorder: 1, Rate: 1})
	if left := without(all, NFQueue.Properties().Can); len(left) > 0 {
		t.Errorf("%s cannot do %v", NFQueue, left)
	}
	if left := without(all, Relay.Properties().Can); !slices.Equal(left, []Aspect{Loss, Reorder}) {
		t.Errorf("%s cannot do %v", Relay, left)
	}
	for _, p := range All() {
		if left := without(p.Can, all); len(left) > 0 {
			t.Errorf("%s does %v, which nobody asks for", p.Means, left)
		}
	}
}

func TestBetween(t *testing.T) {
	here, there := netip.MustParseAddrPort("127.0.0.1:1"), netip.MustParseAddrPort("192.0.2.1:1")
	local := func(a netip.Addr) bool { return a.IsLoopback() }
	n := scenario.Network{Conditions: scenario.Conditions{Delay: time.Second}}
	both := Between(n, []netip.AddrPort{here}, local)
	if len(both) != 2 || both[0].Leaves || both[1].Leaves || RoundTrip(both) != 2*time.Second {
		t.Errorf("%+v", both)
	}
	away := Between(n, []netip.AddrPort{there}, local)
	if len(away) != 2 || !away[0].Leaves || away[1].Leaves {
		t.Errorf("%+v", away)
	}
	n.Direction = scenario.FromBrokers
	one := Between(n, []netip.AddrPort{here}, local)
	if len(one) != 1 || !slices.Equal(one[0].From, []netip.AddrPort{here}) || RoundTrip(one) != time.Second {
		t.Errorf("%+v", one)
	}
}

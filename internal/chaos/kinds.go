package chaos

import (
	"strconv"
	"time"

	"sixnines/scenario"
)

// draws has a function for each kind of action that is drawn. Kinds that change what the load is (start, stop)
// are left out, since they are no faults, and so are those that are another kind by another name (freeze), that
// damage what a broker cannot know to be damaged (corrupt), that take as long as brokers need (rolling), and that
// ask the broker who leads, which not every run can (transfer).
func draws() []func(d *dice) scenario.Action {
	return []func(d *dice) scenario.Action{
		func(d *dice) scenario.Action {
			return scenario.Action{At: d.moment(), Disconnect: []scenario.Subject{scenario.Everybody, scenario.Producers, scenario.Consumers}[d.r.IntN(3)]}
		},
		func(d *dice) scenario.Action {
			return scenario.Action{At: d.moment(), Pause: scenario.Consumers, For: d.length()}
		},
		func(d *dice) scenario.Action {
			return scenario.Action{At: d.moment(), Stall: d.nodes(), For: d.length()}
		},
		func(d *dice) scenario.Action {
			return scenario.Action{At: d.moment(), Kill: d.nodes(), Restart: &scenario.Restart{After: d.length()}}
		},
		func(d *dice) scenario.Action {
			return scenario.Action{At: d.moment(), Terminate: d.nodes(), Restart: &scenario.Restart{After: d.length()}}
		},
		func(d *dice) scenario.Action {
			return scenario.Action{At: d.moment(), Power: d.nodes(), Restart: &scenario.Restart{After: d.length()}}
		},
		func(d *dice) scenario.Action {
			return scenario.Action{At: d.moment(), Disk: &scenario.Disk{Full: true, Node: d.nodes().Node}, For: d.length()}
		},
		func(d *dice) scenario.Action {
			from := d.r.IntN(d.Nodes)
			to := scenario.ClientsEnd
			if d.Nodes > 1 && d.r.IntN(3) > 0 { // a partition of the cluster more often than one from clients
				to = scenario.End(strconv.Itoa((from + 1 + d.r.IntN(d.Nodes-1)) % d.Nodes))
			}
			return scenario.Action{At: d.moment(), For: d.length(),
				Cut: &scenario.Cut{From: scenario.Ends{scenario.End(strconv.Itoa(from))}, To: scenario.Ends{to}, OneWay: d.r.IntN(4) == 0}}
		},
		func(d *dice) scenario.Action {
			var n scenario.Network
			switch d.r.IntN(3) {
			case 0:
				n.Delay = time.Duration(1+d.r.IntN(50)) * time.Millisecond
			case 1:
				n.Loss = scenario.Share(float64(1+d.r.IntN(50)) / 1000)
			case 2:
				n.Delay, n.Jitter = 20*time.Millisecond, 5*time.Millisecond
			}
			return scenario.Action{At: d.moment(), For: d.length(), Network: &n}
		},
	}
}

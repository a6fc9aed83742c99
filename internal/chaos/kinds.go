package chaos

import "sixnines/scenario"

// draws has a function for each kind of action that is drawn. Kinds that change what the load is (start,
// stop) are not: they are no faults.
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
	}
}

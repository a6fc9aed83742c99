package model

// waits are when a connection's client waited for somebody else: in sends that took long, and
// for a place in flight. A shorter send is not asked, and what it took is the generator's own.
type waits []wait

// wait is one of them, or several and what lay between.
type wait struct{ from, to, blocked int64 }

// keptApart is how many waits are remembered one by one, and joined how near two are one.
const (
	keptApart = 1024
	joined    = 1000
)

// add notes a wait.
func (w *waits) add(from, to int64) {
	all := *w
	switch n := len(all); {
	case n > 0 && from-all[n-1].to <= joined:
		last := &all[n-1]
		last.blocked += to - last.to
		last.to = to
		return
	case n == keptApart:
		for i := range n / 2 {
			x, y := all[2*i], all[2*i+1]
			all[i] = wait{x.from, y.to, x.blocked + y.blocked}
		}
		all = all[:n/2]
	}
	*w = append(all, wait{from, to, to - from})
}

// since is how much of the time from an instant on was waited. No message that is asked for
// later is due before it.
func (w *waits) since(at int64) (sum int64) {
	all := *w
	for len(all) > 0 && all[0].to <= at {
		all = all[1:]
	}
	for _, x := range all {
		switch {
		case at <= x.from:
			sum += x.blocked
		case x.blocked == x.to-x.from:
			sum += x.to - at
		default:
			sum += int64(float64(x.blocked) * float64(x.to-at) / float64(x.to-x.from))
		}
	}
	*w = all
	return sum
}

package result

import "slices"

// Network is what a path between clients and brokers was like: the conditions that were asked for, by which means, and what
// was measured.
type Network struct {
	Between   []string `json:"between"`             // the two ends: "clients", "brokers"
	Direction string   `json:"direction,omitempty"` // "both", "to-brokers" or "from-brokers"
	Profile   string   `json:"profile,omitempty"`   // the name of the requested figures
	// Asked holds for each direction by itself: a delay of both makes a round trip twice as much longer.
	Asked Conditions     `json:"asked"`
	Means []NetworkMeans `json:"means"`         // what was used
	Not   []string       `json:"not,omitempty"` // why better means were not used, a sentence each
	// Followed are addresses that the broker told clients of, and for which the conditions hold, too. Uncovered are those to
	// which clients connected and for which the conditions did not hold: absent from the event at which they began. Unknown
	// says why it is not known to which addresses some clients connect; empty: it is known of all.
	Followed  []string `json:"followed,omitempty"`
	Uncovered []string `json:"uncovered,omitempty"`
	Unknown   string   `json:"unknown,omitempty"`
	// Before, During and After are handshakes of the run's own with a broker's port: the path alone, without any
	// program. Before is the floor of the path. Absent: not measured.
	Before *RoundTrips `json:"before,omitempty"`
	During *RoundTrips `json:"during,omitempty"`
	After  *RoundTrips `json:"after,omitempty"`
}

// Since returns it with instants that count from an origin.
func (n Network) Since(origin int64) Network {
	n.Means = slices.Clone(n.Means)
	for i := range n.Means {
		if m := &n.Means[i]; m.Done != 0 {
			m.Asked -= origin
			m.Done -= origin
		}
	}
	return n
}

// Conditions are of one direction.
type Conditions struct {
	Delay   int64   `json:"delay,omitempty"`   // ns, one way
	Jitter  int64   `json:"jitter,omitempty"`  // ns: the delay of a packet is drawn evenly from delay − jitter to delay + jitter
	Loss    float64 `json:"loss,omitempty"`    // share of packets
	Reorder float64 `json:"reorder,omitempty"` // share of packets that are not delayed
	Rate    int64   `json:"rate,omitempty"`    // bits a second
}

// NetworkMeans is a means that gave a direction of a path a part of its conditions, with what it counted.
type NetworkMeans struct {
	Way   string   `json:"way"`   // "to brokers", "from brokers"
	Means string   `json:"means"` // "netem", "tcx", "tbf", "nfqueue"
	Gave  []string `json:"gave"`  // "delay", "jitter", "loss", "reorder", "rate"
	// Asked and Done bound when the means took effect, or was taken away, by the event that has this, ns since the window's start: a
	// path has several means, which do not begin at once. Both are 0 in the header.
	Asked int64 `json:"asked,omitempty"`
	Done  int64 `json:"done,omitempty"`
	// The counts are of the whole time, and absent from the event at which it began.
	Packets   int64 `json:"packets,omitempty"`
	Lost      int64 `json:"lost,omitempty"`      // of these, by the condition loss, counted where they were dropped
	Reordered int64 `json:"reordered,omitempty"` // of these, sent before others that came earlier
	Overflow  int64 `json:"overflow,omitempty"`  // dropped since the path's own queue was full
	// Rate is the bits a second that were carried while the rate was the limit; 0: it never was, or the means does not tell.
	Rate float64 `json:"rate,omitempty"`
	// Late and LateMost are by how much packets left after they were due, ns, on average and at most; below 0: before.
	Late     int64 `json:"late,omitempty"`
	LateMost int64 `json:"late_most,omitempty"`
}

// RoundTrips are times of handshakes, ns.
type RoundTrips struct {
	Tried  int   `json:"tried"`
	Failed int   `json:"failed,omitempty"`
	Min    int64 `json:"min"`
	P50    int64 `json:"p50"`
	P99    int64 `json:"p99"` // of fewer than 100: the largest
}

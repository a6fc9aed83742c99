package driver

// Right is something that the account of a run must be allowed at the broker, in the broker's
// own terms.
type Right struct {
	Name  string // what the broker calls it: "publish", "configure"
	Value string // of what: "bench.>"
	For   string // what it is needed for, for users; empty: every run
	At    string // the product that has it, of a driver for several: "artemis"; empty: each
}

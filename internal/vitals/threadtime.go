package vitals

// threadTime is how long a thread ran, and how long it was ready to run without a
// processor, ns.
type threadTime struct{ ran, waited int64 }

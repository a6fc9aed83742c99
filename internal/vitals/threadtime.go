package vitals

// threadTime is for how long a thread ran, and for how long it was ready to run and had
// no processor, ns.
type threadTime struct{ ran, waited int64 }

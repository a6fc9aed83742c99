// Package model predicts a run by the method: from a scenario and the faults in the
// options of the driver mem it computes every counter, every latency and what follows
// from them, for comparison with what the engine measured and the judge concluded.
//
// It is written from docs/method.md, docs/scenarios.md and docs/result.md, and from the
// documentation of mem's options. It is not written from the code that it checks and
// shares no function with it: where they differ, the documents, the code or the model
// are wrong. It simulates every message, keeps every value, and is meant for some
// thousands of messages.
//
// In the model nothing takes time except what scenario and options say, as on a virtual
// clock: a message is sent when it is due unless something blocks it, and the generator
// has no lag of its own. All instants are ns.
package model

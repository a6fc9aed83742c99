// Package model says what the method makes of a run: of a scenario and the faults
// that the driver mem was told to commit it computes each account, each latency and
// what must follow from them, to compare with what the engine measured and the judge
// concluded.
//
// It is written from docs/method.md, docs/scenarios.md and docs/result.md, and from
// what mem's options promise, not from the code that it is held against, and shares
// no function with it: where the two differ one of the three is wrong. It computes
// every message by itself, keeps every value, and is made for some thousands of
// messages.
//
// In the world of the model nothing takes time but what scenario and options say, as
// on a virtual clock: a message is sent when it is due unless something blocks it, and
// the generator has no lag of its own.
package model

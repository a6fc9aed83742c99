// Package kit is what drivers have in common: connections that producers share and that
// are made again when they are lost, the repetition of what a broker cannot do yet, the
// timer of batches, who resolves a message whose connection ends while it is being sent,
// and the version of a client library.
package kit

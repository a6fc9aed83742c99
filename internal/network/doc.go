// Package network gives a path between clients and brokers conditions: delay, jitter, loss,
// reordering and a rate, by the best means that the machine has, and measures what came of them.
//
// [Look] finds out, on devices of its own, which means work here. [Machine.Plan] chooses among
// them and says why, or refuses with the means that could. [Plan.Prepare] gets everything ready,
// [Path.Begin] puts the conditions into effect and [Path.End] takes them away. [Measure] times
// handshakes, which need no help of the broker.
//
// Everything that is made in the kernel is either gone with this process, however it ends (programs at
// TCX, queues), or has a name with the mark of this program and a record in the journal by which it is removed
// later, see [Kinds] (rules, disciplines of devices). Rules bypass a queue without a reader, so that a path is whole at
// once when the process is killed. Nothing that others made is changed.
package network

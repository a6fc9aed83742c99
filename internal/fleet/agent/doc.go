// Package agent is what a machine of a fleet runs: it connects to the control plane, says what it is
// and what it allows, carries out its segment of a scenario, and sends what it recorded.
//
// An agent dials out, and nothing listens on it for whoever comes: where clocks are to be compared, it takes datagrams of the agents that the
// coordinator names, signed with a key of the run, see [wire.Peer]. It carries out scenarios, not commands: it refuses plans
// that name files, environment variables, brokers to start or faults to cause, and targets, rates and sizes that
// its user did not allow, whoever sends them.
package agent

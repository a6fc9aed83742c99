// Package selftest tests the tool itself: it injects a known disturbance – a
// pause, a distribution, a loss, a wrong clock – and requires that the tool
// reports it.
//
// A [Trial] answers one question. Its [Outcome] is made of [Figure]s. Each says
// what was expected, found and tolerated, so that a reader can check the verdict.
// Pure functions judge the findings, and tests give them falsified input: a trial
// that cannot fail proves nothing.
//
// Trials that need a quiet machine say so ([Trial.Timed]). A timed trial that fails
// is repeated, up to [Attempts] times in all, and every attempt is reported. If it
// fails each time while something else disturbed the machine, the result says
// nothing about the tool: the trial is "not assessed", and the disturbance is
// named. Without a disturbance it has failed. All other trials have one attempt
// and are always assessed.
package selftest

// Package selftest tests the tool itself: it injects what is known –
// a pause, a distribution, a loss, a wrong clock – and requires that the tool
// reports it.
//
// A [Trial] answers one question. Its [Outcome] is made of [Figure]s, each of
// which says what was expected, what was found and what was tolerated, so that
// a verdict can be checked by the reader. What a trial finds is judged by pure
// functions of their own, which tests give falsified input: a trial that cannot
// fail proves nothing.
//
// Trials that need a quiet machine say so ([Trial.Timed]). Such
// a trial that fails is tried again, [Attempts] times in all, and every attempt
// is reported. If it fails each time while something else disturbed the machine, nothing
// is known of the tool: it is "not assessed", with the disturbance
// named, and neither passed nor failed. Without a disturbance it has failed.
// All other trials have one attempt and are always assessed.
package selftest

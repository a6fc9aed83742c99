// Package thread says how the kernel schedules single threads of this process, and
// has other programs start as this one did.
//
// A goroutine should be locked to its thread before it asks for anything here, unless
// it is said otherwise. What was asked for stays with the thread, and threads and
// processes that it starts have it from it.
package thread

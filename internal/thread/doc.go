// Package thread sets how the kernel schedules single threads of this process, or all of them, and
// makes other programs start with the settings that this one started with.
//
// Lock a goroutine to its thread before it calls a function of this package, unless the
// function says otherwise. The settings stay with the thread, and threads and processes
// that it starts inherit them.
package thread

// No code: a package with an assembly file may declare functions without a
// body, as sleep_linux.go does for the two it links to in the runtime.

package network

// Journal notes, durably, what is about to be done to the kernel, so that another process undoes it if this one is
// killed. forget is called when it was undone.
type Journal interface {
	Note(t Trace) (forget func() error, err error)
}

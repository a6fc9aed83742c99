package network

// Trace is what a process that was killed left in the kernel: one of the fields. Its JSON is what a journal keeps.
type Trace struct {
	Rules      *rules      `json:"rules,omitempty"`
	Discipline *discipline `json:"discipline,omitempty"`
	Segments   *segments   `json:"segments,omitempty"`
}

// Undo removes it. What is not there any more is no error.
func (t Trace) Undo() error {
	switch {
	case t.Rules != nil:
		return t.Rules.remove()
	case t.Discipline != nil:
		return t.Discipline.remove()
	case t.Segments != nil:
		return t.Segments.remove()
	}
	return nil
}

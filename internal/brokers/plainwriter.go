package brokers

import "io"

// plainWriter passes text on without terminal escape sequences, which some programs
// write even if their output is not a terminal. Not safe for concurrent use.
type plainWriter struct {
	to     io.Writer
	inside int // of a sequence: 0 not, 1 behind its first byte, 2 among its numbers
}

// Write implements io.Writer. It ignores errors of the underlying writer: a command
// must not fail because its reader is gone.
func (w *plainWriter) Write(p []byte) (int, error) {
	text := make([]byte, 0, len(p))
	for _, c := range p {
		switch {
		case w.inside == 0 && c == 0x1b:
			w.inside = 1
		case w.inside == 1 && c == '[':
			w.inside = 2
		case w.inside == 1, w.inside == 2 && c >= '@' && c <= '~':
			w.inside = 0
		case w.inside == 0:
			text = append(text, c)
		}
	}
	if len(text) > 0 {
		w.to.Write(text)
	}
	return len(p), nil
}

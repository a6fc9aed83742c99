package brokers

import "io"

// plainWriter passes text on without the sequences that command terminals to
// use colours: some programs write them to whatever it is.
type plainWriter struct {
	to     io.Writer
	inside int // of a sequence: 0 not, 1 behind its first byte, 2 among its numbers
}

// Write implements io.Writer. All of p is taken, whatever becomes of it: a
// command must not fail because its reader is gone.
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

package sessiontest

import (
	"io"
	"math/rand/v2"
)

// Chunks returns a reader of the stream that gives as much at a time as chance
// will have it, 1 to most bytes, as a connection does.
func Chunks(stream []byte, random *rand.Rand, most int) io.Reader {
	return &chunks{stream, random, most}
}

type chunks struct {
	stream []byte
	random *rand.Rand
	most   int
}

func (c *chunks) Read(p []byte) (int, error) {
	if len(c.stream) == 0 {
		return 0, io.EOF
	}
	n := copy(p, c.stream[:min(len(c.stream), 1+c.random.IntN(c.most))])
	c.stream = c.stream[n:]
	return n, nil
}

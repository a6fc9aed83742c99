package recorder

import "sixnines/internal/histograms"

// encode appends the text of a histogram of layout g to to. in has the blocks of counts
// that are not all zero; nil means that any block may have counts.
func encode(e *histograms.Encoder, to []byte, g *geometry, counts []int64, in blocks) ([]byte, error) {
	e.Begin(1, g.highest, int64(g.digits))
	for i := 0; i < len(counts); i++ {
		if in != nil && i%block == 0 {
			next := in.next(i, len(counts))
			e.Zeros(int64(next - i))
			if i = next; i == len(counts) {
				break
			}
		}
		e.Count(counts[i])
	}
	return e.Append(to)
}

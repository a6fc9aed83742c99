package stats

// EffectiveSize returns how many independent values would tell as much about a
// quantile as those of the blocks do, at most their number; v is the value of the
// grid that the quantile lies at. With D the difference of a block's number of
// values above v from what its share of them would be,
//
//	n·q(1−q) / Σ_k cov(D_i, D_i+k),   q = the share above v,
//
// times n: the variance that independent values had, over the one that the run
// has. The sum over k ends where the covariances of two neighbouring k are no
// longer positive (Geyer, Practical Markov chain Monte Carlo, Statistical Science
// 7, 1992: the initial positive sequence): what follows is noise.
//
// ok is false of fewer than 2·[LeastChunks] blocks, and where all values or none
// lie above v.
func EffectiveSize(b Blocks, v int) (size float64, ok bool) {
	n := b.Len()
	if n < 2*LeastChunks {
		return 0, false
	}
	var all, above float64
	for i := range n {
		all += float64(b.Count(i))
		above += float64(b.Above(i, v))
	}
	q := above / all
	if !(q > 0 && q < 1) {
		return 0, false
	}
	d := make([]float64, n)
	for i := range n {
		d[i] = float64(b.Above(i, v)) - q*float64(b.Count(i))
	}
	products := func(k int) (sum float64) {
		for i := k; i < n; i++ {
			sum += d[i] * d[i-k]
		}
		return sum
	}
	variance := -products(0)
	for k := 0; k+1 < n; k += 2 {
		pair := products(k) + products(k+1)
		if pair <= 0 {
			break
		}
		variance += 2 * pair
	}
	if variance < all*q*(1-q) { // less than chance: no more is claimed than there is
		return all, true
	}
	return all * all * q * (1 - q) / variance, true
}

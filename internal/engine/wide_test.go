package engine

import (
	"testing"

	"sixnines/result"
)

// 700 producers at 1/s, each on a topic of its own, and 1,000 subscribers
// spread over the topics are no reason for 700 threads.
func TestManyProducersNeedFewThreads(t *testing.T) {
	t.Parallel()
	judgesFigures(t)
	b := startNATS(t)
	cmd, file := startAlone(t, `
phases: {warmup: 500ms, duration: 1s}
workload: {rate: 700/s, producers: 700, topics: 700, consumers: 1000}
`, b.URL)
	if err := cmd.Wait(); err != nil {
		t.Fatal(err)
	}
	r, err := result.Load(file)
	if err != nil {
		t.Fatal(err)
	}
	c := r.Counters
	// 300 of the topics have two subscribers.
	if c.Sent != 700 || c.Expected != 700+300 || c.Received != c.Expected {
		t.Errorf("%+v", c)
	}
	var threads, rss float64
	for _, p := range r.Series {
		threads, rss = max(threads, p.Vitals["process.threads"]), max(rss, p.Vitals["process.rss"])
	}
	if threads == 0 || threads >= 120 {
		t.Errorf("%v threads", threads)
	}
	if rss == 0 || rss >= 500e6 {
		t.Errorf("%.0f MB of memory", rss/1e6)
	}
	t.Logf("%v threads, %.0f MB", threads, rss/1e6)
}

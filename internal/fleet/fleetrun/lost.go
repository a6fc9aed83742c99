package fleetrun

import (
	"fmt"
	"math/rand/v2"
	"os"

	"sixnines/internal/fleet/coordinator"
	"sixnines/internal/resultfile"
	"sixnines/internal/schedule"
	"sixnines/result"
	"sixnines/scenario"
)

// writeLost writes, in place of what is there, the result of an agent that was lost before it delivered any: the headers
// of another one, with its own segment.
func writeLost(path string, others []result.Header, m coordinator.Member, start int64) error {
	if err := os.Remove(path); err != nil {
		return err
	}
	w, err := resultfile.Create(path)
	if err != nil {
		return err
	}
	segment, err := segmentOf(m.Segment)
	if err != nil {
		_ = w.Close() // the first error is the one to return
		return err
	}
	id := fmt.Sprintf("%016x", rand.Uint64())
	for _, h := range others {
		h.ID, h.Segment = id, &segment
		h.Machine, h.SetupTimes, h.Floor, h.Limit, h.SameHost = nil, nil, nil, nil, false
		h.Clock.Service = nil
		h.Clock.Domain, h.Clock.Start = m.Clock, start+m.Offset
		if h.Rate = 0; segment.Role != result.RoleProbe {
			h.Rate, err = plannedRate(&h)
		}
		if err == nil {
			err = w.Header(h)
		}
		if err != nil {
			_ = w.Close() // the first error is the one to return
			return err
		}
	}
	return w.Close()
}

// plannedRate is the rate of the schedule of a header's segment; 0: it has none.
func plannedRate(h *result.Header) (float64, error) {
	if h.Mode != result.ModeOpen {
		return 0, nil
	}
	s, err := scenario.FromRecord("header", h.Scenario)
	if err != nil {
		return 0, err
	}
	s.Normalise()
	share, _, err := shareOf(&s.Workload, *h.Segment)
	if err != nil || len(share.Producers) == 0 {
		return 0, err
	}
	p, err := schedule.New(&s.Workload, s.Phases.Longest(), s.Seed)
	if err != nil {
		return 0, err
	}
	return p.Of(share.Producers).MeanRate(), nil
}

package coordinator

import "time"

// deafAfter is how long nobody may be heard of until that is taken for this side's fault: each agent says something once a second.
const deafAfter = 3 * time.Second

// hearing tells an agent that is silent from a coordinator that hears nobody, because it was paused, or parted from the
// control plane. Instants are those of clock.Now.
type hearing struct {
	last  int64 // when anything was heard
	since int64 // since when something has been heard again and again
}

// note notes that something was heard of any agent.
func (h *hearing) note(now int64) {
	if now-h.last > int64(deafAfter) {
		h.since = now
	}
	h.last = now
}

// lost reports whether an agent was silent for so long in which others were heard.
func (h *hearing) lost(m *member, now int64, patience time.Duration) bool {
	return now-h.last <= int64(deafAfter) && now-max(m.heard, h.since) > int64(patience)
}

package jetstream

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"sixnines/semantics"
)

// synchronisation says when the server has its files written to the disk.
type synchronisation struct {
	known    bool
	always   bool
	interval string // for people
	unknown  string // why it is not known; empty: it was not asked for
}

// durability is what it means for an acknowledged message.
func (y synchronisation) durability(async bool) (semantics.Durability, string) {
	if async {
		return semantics.Memory, "the server's memory, written to files later"
	}
	switch {
	case !y.known:
		return semantics.PageCache, "page cache; when it is fsynced the server does not tell"
	case y.always:
		return semantics.Synced, "fsync per message"
	}
	return semantics.PageCache, "page cache; fsync every " + y.interval
}

// synchronisation asks the server's monitoring: JetStream itself does not tell.
func (s *session) synchronisation(ctx context.Context) synchronisation {
	y := synchronisation{interval: "not known; the server's own default is 2m0s"}
	if s.options.Monitoring == "" {
		return y
	}
	fail := func(format string, args ...any) synchronisation {
		y.unknown = "it is not known when files are synchronised: " + fmt.Sprintf(format, args...)
		return y
	}
	ctx, cancel := context.WithTimeout(ctx, s.options.APITimeout)
	defer cancel()
	url, err := s.options.monitoring()
	if err != nil {
		return fail("%v", err)
	}
	url += "/varz"
	text, status, err := s.Ask(ctx, http.MethodGet, url, nil, nil)
	if err != nil {
		return fail("%v", err)
	}
	var v struct {
		ID        string `json:"server_id"`
		JetStream struct {
			Config *struct {
				Interval time.Duration `json:"sync_interval"`
				Always   bool          `json:"sync_always"`
			} `json:"config"`
		} `json:"jetstream"`
	}
	if err := json.Unmarshal(text, &v); status != http.StatusOK || err != nil {
		return fail("%s answers %d: %v", url, status, err)
	}
	config := v.JetStream.Config
	switch {
	case config == nil:
		return fail("%s tells nothing of JetStream", url)
	case s.Control().Conn().ConnectedClusterName() == "" && v.ID != s.Control().Conn().ConnectedServerId():
		return fail("%s is another server's", url)
	}
	y.known, y.always, y.interval = true, config.Always, config.Interval.String()
	if y.always {
		y.interval = "always"
	}
	return y
}

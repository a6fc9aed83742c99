package redisstreams

import (
	"fmt"
	"strconv"

	"sixnines/driver"
	"sixnines/drivers/internal/resp"
)

// Options are the options of the driver, see driver.DecodeOptions.
type Options struct {
	MaxLen int    `option:"maxlen" doc:"entries to which every XADD trims its stream, read or not; 0: streams grow with the run, in the server's memory" min:"0"`
	Trim   string `option:"trim" enum:"approximate,exact" doc:"approximate: whole nodes of a stream only (MAXLEN ~), which costs little; exact: to the entry (MAXLEN =)"`
	Field  string `option:"field" doc:"name of the field that holds the payload in an entry"`
	Count  int    `option:"count" doc:"most entries of a stream that a consumer fetches at once" min:"1" max:"1000000"`
	Client string `option:"client" enum:"direct,library" aliases:"redigo=library" doc:"direct: frames of our own, which are neither copied nor allocated; library: through redigo"`
	resp.Options
}

// exact is the value of Options.Trim that the code asks for.
const exact = "exact"

// DefaultOptions returns the defaults.
func DefaultOptions() Options {
	return Options{Trim: "approximate", Field: "m", Count: 100, Client: resp.Direct, Options: resp.DefaultOptions()}
}

// Validate refuses a field without a name.
func (o Options) Validate() error {
	if o.Field == "" {
		return fmt.Errorf("redis-streams: option \"field\": %w: a field needs a name", driver.ErrOption)
	}
	return nil
}

// words returns those of the command that adds to the stream: all but the payload,
// which is the value of the last field after the headers.
func (o Options) words(key string, headers []driver.Header) []string {
	words := []string{"XADD", key}
	if o.MaxLen > 0 {
		sign := "~"
		if o.Trim == exact {
			sign = "="
		}
		words = append(words, "MAXLEN", sign, strconv.Itoa(o.MaxLen))
	}
	words = append(words, "*")
	for _, h := range headers {
		words = append(words, h.Name, h.Value)
	}
	return append(words, o.Field)
}

package brokers

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// natsSettings are lines of a server's configuration: values as the file has them,
// by name, with dots between the names of blocks: "jetstream.store_dir".
type natsSettings map[string]string

// overlay replaces lines of s by others. A line for a whole block replaces the block. The
// error wraps [ErrSetting].
func (s natsSettings) overlay(others map[string]string) error {
	for name := range others {
		if name == "" || strings.ContainsAny(name, " \t\r\n{}#\"") || slices.Contains(strings.Split(name, "."), "") {
			return fmt.Errorf("%w %q: give the name of a line in nats-server's configuration, with dots between blocks, such as jetstream.sync_interval", ErrSetting, name)
		}
		for block := range others {
			if strings.HasPrefix(name, block+".") {
				return fmt.Errorf("%w %s beside %s: one of them sets the whole block of the other", ErrSetting, block, name)
			}
		}
		maps.DeleteFunc(s, func(own, _ string) bool { return strings.HasPrefix(own, name+".") })
	}
	maps.Copy(s, others)
	if !s.jetstream() {
		// MQTT needs JetStream; without it the server would not start.
		maps.DeleteFunc(s, func(own, _ string) bool {
			_, asked := others[own]
			return strings.HasPrefix(own, "mqtt.") && !asked
		})
	}
	return nil
}

// jetstream reports whether JetStream is enabled.
func (s natsSettings) jetstream() bool {
	off := []string{"false", "disabled", "disable"}
	return !slices.Contains(off, strings.Trim(s["jetstream"], `"'`)) && !slices.Contains(off, strings.Trim(s["jetstream.enabled"], `"'`))
}

// mqtt returns the port of the server's MQTT listener, or 0.
func (s natsSettings) mqtt() int {
	port, err := strconv.Atoi(s["mqtt.port"])
	if err != nil {
		return 0
	}
	return port
}

// String returns the configuration file.
func (s natsSettings) String() string {
	var b strings.Builder
	s.write(&b, "", "")
	return b.String()
}

// write writes the lines whose names begin with prefix, the next parts of them
// in order.
func (s natsSettings) write(b *strings.Builder, prefix, indent string) {
	heads := map[string]bool{}
	for name := range s {
		if rest, ok := strings.CutPrefix(name, prefix); ok {
			head, _, _ := strings.Cut(rest, ".")
			heads[head] = true
		}
	}
	for _, head := range slices.Sorted(maps.Keys(heads)) {
		if value, ok := s[prefix+head]; ok {
			fmt.Fprintf(b, "%s%s: %s\n", indent, head, value)
			continue
		}
		fmt.Fprintf(b, "%s%s {\n", indent, head)
		s.write(b, prefix+head+".", indent+"\t")
		fmt.Fprintf(b, "%s}\n", indent)
	}
}

// natsUsers are the administrator and the account of a secured server.
func natsUsers(o *Options) string {
	subjects := func(right string) string {
		var quoted []string
		for _, subject := range o.account.of(right) {
			quoted = append(quoted, strconv.Quote(subject))
		}
		return "[" + strings.Join(quoted, ", ") + "]"
	}
	return fmt.Sprintf("[ { user: %q, password: %q }, { user: %q, password: %q, permissions: { publish: %s, subscribe: %s } } ]",
		o.User, o.Password, o.account.user, o.account.password, subjects("publish"), subjects("subscribe"))
}

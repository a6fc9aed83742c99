package cli

import (
	"errors"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"sixnines/driver"
	"sixnines/internal/secret"
	"sixnines/internal/sweep"
	"sixnines/scenario"
)

// overrides collects the changes that flags make to a scenario, in the order of the
// command line, so that the last one wins.
type overrides struct{ list []scenario.Override }

// override is a flag whose value goes into a scenario unchanged: the scenario checks it,
// and its error names the flag.
type override struct {
	to        *overrides
	key, flag string
	kind      string
}

func (o *override) String() string { return "" }
func (o *override) Type() string   { return o.kind }

func (o *override) Set(value string) error {
	if value == "" { // such as a variable of the shell that is not set
		return errors.New("empty")
	}
	if o.key == encryptKey {
		if value != "true" {
			return errors.New("leave it out where nothing is to be encrypted")
		}
		// It goes before others: what is in TLS's mapping stays.
		o.to.list = slices.Insert(o.to.list, 0, scenario.Override{Key: "target.tls.insecure_skip_verify", Value: "false", Flag: o.flag})
		return nil
	}
	o.to.list = append(o.to.list, scenario.Override{Key: o.key, Value: value, Flag: o.flag})
	return nil
}

// encryptKey stands for a mapping target.tls, with whatever is in it.
const encryptKey = "target.tls"

// pairs is a flag that takes key=value and may be repeated.
type pairs struct {
	to           *overrides
	prefix, flag string
	key          func(name string) string // returns the key of a name; nil: the name is the key
	example      string                   // the example in the hint
}

func (p *pairs) String() string { return "" }
func (p *pairs) Type() string   { return "KEY=VALUE" }

func (p *pairs) Set(text string) error {
	key, value, ok := strings.Cut(text, "=")
	if !ok || key == "" {
		if name, _, more := strings.Cut(text, ":"); more {
			text = name + ":…" // what follows may be a password
		}
		return wrongUsage("write it as "+p.flag+" KEY=VALUE"+p.example, "%s %q has no key or no value", p.flag, text)
	}
	o := scenario.Override{Key: p.prefix + key, Value: value, Flag: p.flag + " " + key}
	if p.key != nil {
		o.Key = p.key(key)
	}
	p.to.list = append(p.to.list, o)
	return nil
}

// keyOf returns the dotted key of a scenario's field for a name: a flag's name, or a name
// that [sweep.FindKey] knows. It returns an unknown name unchanged, and the scenario will
// refuse it.
func keyOf(name string) string {
	name = strings.TrimPrefix(name, "--")
	for _, s := range scenarioFlags(&overrides{}) {
		if known := s.flags.Lookup(name); known != nil {
			if o, is := known.Value.(*override); is {
				return o.key
			}
		}
	}
	if key, err := sweep.FindKey(name); err == nil {
		return key
	}
	return name
}

// letterOf returns the one-letter form of a flag, as in other tools; empty: it has none.
func letterOf(flag string) string {
	switch flag {
	case "rate", "size", "duration":
		return flag[:1]
	case "messages":
		return "n"
	}
	return ""
}

// formerly returns the former name of a flag, which still works; empty: it has none.
func formerly(flag string) string {
	switch flag {
	case "start":
		return "managed"
	case "consumer-delay":
		return "work"
	case "think-time":
		return "think"
	}
	return ""
}

// scenarioFlags makes the flags that override a scenario, in sections.
func scenarioFlags(to *overrides) []section {
	var all []section
	add := func(heading string, define func(flag func(name, key, kind, usage string))) {
		all = append(all, sectionOf(heading, func(f *pflag.FlagSet) {
			define(func(name, key, kind, usage string) {
				f.VarP(&override{to: to, key: key, flag: "--" + name, kind: kind}, name, letterOf(name), usage)
				if old := formerly(name); old != "" {
					f.Var(&override{to: to, key: key, flag: "--" + old, kind: kind}, old, usage)
					f.Lookup(old).Hidden = true
				}
			})
		}))
	}
	add("Where", func(flag func(name, key, kind, usage string)) {
		flag("url", "target.url", "URL", "address of the broker; without it a broker is started for the run")
		flag("prefix", "target.prefix", "TEXT", "what every name begins with that the run makes or uses at the broker, such as bench. (or bench/ for MQTT), where the account may use no other; default: names begin with s9")
		flag("topic", "target.topic", "NAME", "use topics that exist, with commas between: subjects, queues, EXCHANGE/KEY, channels; nothing is made, emptied or deleted")
		flag("group", "target.group", "NAME", "with --topic: consumer groups that exist, with commas between")
		flag("start", "target.managed", "NAME", "broker to start for the run, optionally with a version such as kafka@3.9.1; default: the driver's own; see sixnines broker list")
		flag("nodes", "target.nodes", "N", "number of nodes of that broker; default 1")
		flag("network", "network.profile", "PROFILE", "network conditions to the broker for the whole run: lan, cross-zone, cross-region, wan, 4g, lossy-wifi or satellite; see docs/network.md")
		flag("tls", encryptKey, "bool", "encrypt, by the authorities of this system unless --tls-ca names another; not needed with --tls-ca or a scheme such as rediss")
		flag("tls-ca", "target.tls.ca", "FILE", "PEM file of the CA that signed the server's certificate")
		flag("tls-cert", "target.tls.cert", "FILE", "PEM file of the client certificate")
		flag("tls-key", "target.tls.key", "FILE", "PEM file of the client key")
		flag("tls-key-password", secret.KeyPassword, "PASSWORD", "password of the client key, if that is encrypted: env:NAME or @FILE")
		flag("tls-server-name", "target.tls.server_name", "NAME", "name expected in the server's certificate")
		flag("tls-insecure", "target.tls.insecure_skip_verify", "bool", "accept any certificate; noted in the result")
	})
	where := all[0].flags
	where.Lookup("tls-insecure").NoOptDefVal = "true"
	where.Lookup("tls").NoOptDefVal = "true"
	where.Var(&pairs{to: to, prefix: "target.options.", flag: "--option"}, "option", "option of the driver, repeatable; see sixnines drivers show NAME")
	where.Var(&pairs{to: to, prefix: "target.settings.", flag: "--setting"}, "setting", "a line of that broker's configuration, repeatable")
	add("Load", func(flag func(name, key, kind, usage string)) {
		flag("rate", "workload.rate", "RATE", "total over all producers: 3000, 20k/s, 10/min, or max for as fast as possible; default 1000/s")
		flag("size", "workload.size", "SIZE", "payload, envelope included: 256, 1K, 1MB, \"256B:90%,64KiB:10%\", lognormal:median=1KiB,sigma=1,max=64KiB; default 256B")
		flag("payload", "workload.payload", "PAYLOAD", "content of payloads: random, zeros, compress:50%, file:PATH, corpus:DIR; default random")
		flag("keys", "workload.keys", "KEYS", "message keys, if the broker supports them: none, fixed, unique, zipf:1.1@10000; default none")
		flag("headers", "workload.headers", "HEADERS", "message headers, if the broker supports them: 4x32B, or tenant:blue,trace:4bf92f; default none")
		flag("pattern", "workload.pattern", "PATTERN", "publish, deliver, roundtrip, request-reply, or consume (messages that another run left); default deliver")
		flag("producers", "workload.producers", "N", "number of producers; default 1")
		flag("consumers", "workload.consumers", "N", "number of consumers or responders; default 1, or one per producer for roundtrip")
		flag("topics", "workload.topics", "N", "number of topics; default 1, or one per producer for roundtrip")
		flag("groups", "workload.groups", "N", "number of queue or consumer groups that the consumers form; default 0: each consumer receives every message of its topic")
		flag("lifetime", "workload.lifetime", "LIFETIME", "how long topics and groups remain at the broker: run or keep; default run, or keep with --existing")
		flag("existing", "workload.existing", "NAME", "use the topics, groups and messages that a run with --lifetime keep left; that run printed the name: 8 hexadecimal digits")
		flag("arrivals", "workload.arrivals", "ARRIVALS", "constant, poisson, ramp:1000/s..5000/s, burst:100@1s, sine:50%@10s, step:1000/s@10s,2000/s@10s, trace:FILE")
		flag("seed", "seed", "N", "seed of everything random; default 1")
		flag("producer-connections", "workload.connections.producers", "N", "number of connections that producers share; default one each, at most 16")
		flag("consumer-connections", "workload.connections.consumers", "N", "number of connections that consumers share; default one each, at most 16")
		flag("connection-rate", "workload.connections.rate", "RATE", "also open this many connections per second, each timed from when it is due, and close them again: 50/s; see docs/connections.md")
		flag("connection-hold", "workload.connections.hold", "TIME", "with --connection-rate: how long each of these connections stays open; default 10s")
		flag("connection-as", "workload.connections.as", "ROLE", "with --connection-rate: consumer (subscribes to a topic without messages) or producer (logs in only); default consumer")
		flag("in-flight", "workload.in_flight.messages", "N", "maximum of unanswered messages over all producers")
		flag("in-flight-each", "workload.in_flight.each", "N", "maximum of unanswered messages of each producer; with 1 it waits for each answer, but the schedule does not")
		flag("in-flight-bytes", "workload.in_flight.bytes", "SIZE", "maximum of unanswered bytes; default 256MiB")
		flag("timeout", "workload.timeout", "TIME", "how long an unanswered message counts as in flight; default: the drain limit")
		flag("consumer-ack", "workload.consumer.ack", "WHEN", "how consumers acknowledge to the broker: none, each, or after a number of messages")
		flag("consumer-delay", "workload.consumer.work", "TIME", "simulated work of a consumer or responder: how long its callback waits for each message")
		flag("consumers-from", "workload.consumer.from", "WHEN", "consumers connect late: filled (when all producers have finished), or a time after the window's start such as 30s")
		flag("fleet-producers", "fleet.producers.agents", "AGENTS", "with --fleet: the agents that only send: a number of them, a label such as zone=b, or names such as m1,m2; default: each agent receives what it sends")
		flag("fleet-consumers", "fleet.consumers.agents", "AGENTS", "with --fleet: the agents that only receive")
		flag("fleet-probe", "fleet.probe.agents", "AGENT", "with --fleet: the agent that has no part in the load and measures the broker beside it, with one producer and one consumer at a low rate: 1, a name, or a label that one agent has; default: none")
		flag("fleet-bound", "fleet.bound", "BOUND", "with --fleet-producers: by which bound of several clocks one-way latencies are judged: proved, or expected, where the proved one says nothing and their ways are taken to be symmetric; default proved")
		flag("consumers-pause", "workload.consumer.pause", "PAUSE", "consumers pause for a time, from an instant of the window: 5s@20s")
	})
	add("Closed loop", func(flag func(name, key, kind, usage string)) {
		flag("loop", "workload.loop", "LOOP", "open or closed; a closed loop waits for each answer, so it omits the time that users would have waited; default open")
		flag("outstanding", "workload.outstanding", "N", "closed loop: unanswered messages per producer; default 1")
		flag("think-time", "workload.think", "TIME", "closed loop: pause between an answer and the next message")
		flag("messages", "workload.messages", "N", "end the window after this many messages; for a closed loop or rate max")
	})
	add("Phases", func(flag func(name, key, kind, usage string)) {
		flag("warmup", "phases.warmup", "TIME", "load before the measured window, not recorded; default 2s")
		flag("duration", "phases.duration", "TIME", "length of the measured window: 30s, 10m; default 10s; with --until its minimum")
		flag("until", "phases.until", "WIDTH", "lengthen the window until the interval of a percentile is this narrow: \"delivery.response p99 ±5%\" (or +-5%), \"publish.response p50 ±50us\"")
		flag("at-most", "phases.at_most", "TIME", "with --until: maximum length of the window; default ten times --duration, at least 60s")
		flag("drain", "phases.drain", "TIME", "the longest wait for the last measured message; default 10s, 10m if consumers connect late")
	})
	add("Result", func(flag func(name, key, kind, usage string)) {
		flag("slo", "objectives[]", "EXPR", "an objective that the run must meet, repeatable: \"p99 < 5ms\", \"delivery.response p99.9 < 5ms\", \"lost == 0\", \"rate >= 99.9%\"")
		flag("name", "name", "NAME", "name of the run; letters, digits, - and _")
		flag("probe", "record.probe", "WHEN", "also measure the broker from a separate process, with one producer and one consumer at a low rate: on, off or auto")
		flag("raw", "record.raw", "bool", "also write a raw file beside the result, with 40 bytes per event of a message")
	})
	record := all[len(all)-1].flags
	record.Lookup("raw").NoOptDefVal = "true"
	record.Lookup("probe").NoOptDefVal = string(scenario.ProbeOn)
	record.Var(&pairs{to: to, flag: "--set"}, "set", "any field of a scenario, such as record.interval=500ms, repeatable; see sixnines schema")
	return all
}

// completeScenarioFlags installs completions for flags with fixed values.
func (env *Env) completeScenarioFlags(cmd *cobra.Command) {
	completeFlag(cmd, "pattern", oneOf(string(scenario.Publish), string(scenario.Deliver), string(scenario.RoundTrip), string(scenario.RequestReply), string(scenario.Consume)))
	completeFlag(cmd, "loop", oneOf(string(scenario.Open), string(scenario.Closed)))
	completeFlag(cmd, "arrivals", func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return []string{"constant", "poisson", "ramp:", "burst:", "sine:", "step:", "trace:"},
			cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
	})
	completeFlag(cmd, "rate", oneOf("max", "1000/s", "3000/s", "20k/s"))
	completeFlag(cmd, "payload", oneOf("random", "zeros", "compress:50%", "file:", "corpus:"))
	completeFlag(cmd, "keys", oneOf("none", "fixed", "unique", "zipf:1.1@10000"))
	completeFlag(cmd, "size", oneOf("256B", "1KiB", "64KiB", "1MiB"))
	completeFlag(cmd, "slo", oneOf("p99 < 5ms", "delivery.response p99.9 < 5ms", "lost == 0", "rate >= 99.9%"))
	completeFlag(cmd, "probe", oneOf(string(scenario.ProbeOn), string(scenario.ProbeOff), string(scenario.ProbeAuto)))
	completeFlag(cmd, "until", oneOf("delivery.response p99 ±5%", "publish.response p99 ±5%", "roundtrip.response p99 ±5%"))
	completeFlag(cmd, "consumer-ack", oneOf("none", "each"))
	completeFlag(cmd, "consumers-from", oneOf("filled", "30s"))
	completeFlag(cmd, "network", oneOf(each(scenario.Profiles(), func(p scenario.Profile) string { return p.Name })...))
	completeFlag(cmd, "start", completeProducts)
	completeFlag(cmd, "managed", completeProducts)
	completeFlag(cmd, "option", func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		name := "nats"
		if len(args) > 0 {
			name = args[0]
		}
		e, ok := env.Drivers.Lookup(name)
		if !ok {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return each(driver.DescribeOptions(e.Options), func(o driver.Option) string { return o.Name + "=\t" + o.Doc }), cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
	})
}

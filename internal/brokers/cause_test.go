package brokers

import (
	"strings"
	"testing"
)

// Actual output of brokers that did not start.
func TestCause(t *testing.T) {
	for _, tt := range []struct{ name, said, want string }{
		{"redis", `24645:C 21 Nov 2026 17:39:56.172 # oO0OoO0OoO0Oo Redis is starting oO0OoO0OoO0Oo
24645:M 21 Nov 2026 17:39:56.173 # WARNING Memory overcommit must be enabled! … can also cause failures, see error 1328.
24645:M 21 Nov 2026 17:39:56.173 # Module Configuration detected without loadmodule directive: aborting
`, "Module Configuration detected without loadmodule directive: aborting"},
		{"redis's configuration", `
*** FATAL CONFIG FILE ERROR (Redis 7.0.15) ***
Reading the configuration file, at line 1
>>> 'bogus 1'
Bad directive or wrong number of arguments
`, "*** FATAL CONFIG FILE ERROR (Redis 7.0.15) ***; Reading the configuration file, at line 1; >>> 'bogus 1'; Bad directive or wrong number of arguments"},
		{"nsqd's flags", "flag provided but not defined: -nosuch\nUsage of nsqd:\n  -auth-http-address value\n" + strings.Repeat("  -error value\n", 500),
			"flag provided but not defined: -nosuch"},
		{"nsqd", "[nsqd] 2026/11/21 17:50:47.065796 FATAL: failed to lock data-path: open /proc/x: no such file or directory\n",
			"FATAL: failed to lock data-path: open /proc/x: no such file or directory"},
		{"stan", "[32168] 2026/11/21 17:50:47.082788 [INF] STREAM: Git commit: [not set]\n[32168] 2026/11/21 17:50:47.082791 [FTL] STREAM: Failed to start: unsupported store type: X\n",
			"STREAM: Failed to start: unsupported store type: X"},
		{"mosquitto", "1795282796: Error: Unknown configuration variable \"nosuch.key\".\n1795282796: Error found at mosquitto.conf:6.\n",
			`Error: Unknown configuration variable "nosuch.key".; Error found at mosquitto.conf:6.`},
		{"rabbitmq", `2026-11-21 17:51:18.725975+00:00 [error] <0.132.0> You've tried to set nosuch.key, but there is no setting with that name.
2026-11-21 17:51:18.769392+00:00 [error] <0.132.0> 
2026-11-21 17:51:18.769392+00:00 [error] <0.132.0> ===========
2026-11-21 17:51:19.779436+00:00 [error] <0.130.0>   crasher:
`, "You've tried to set nosuch.key, but there is no setting with that name."},
		{"kafka", `2026-11-21 17:48:42,302 ERROR Exiting Kafka due to fatal exception (kafka.Kafka$)
java.lang.IllegalArgumentException: No security protocol defined for listener SSL
	at org.apache.kafka.server.config.AbstractKafkaConfig.listenerListToEndPoints(AbstractKafkaConfig.java:224)
`, "ERROR Exiting Kafka due to fatal exception (kafka.Kafka$); java.lang.IllegalArgumentException: No security protocol defined for listener SSL"},
		{"pulsar", `2026-11-25 02:31:31,468 ERROR Problems reading from x/lastMark (this is okay if it is the first time starting this bookie (org.apache.bookkeeper.bookie.Journal)
2026-11-25 02:31:34,090 WARN Failed to resolve network location for 127.0.0.1, using default rack (org.apache.bookkeeper.client.TopologyAwareEnsemblePlacementPolicy)
2026-11-25 02:31:35,193 ERROR Failed to start Pulsar service: Failed to bind Pulsar broker on /127.0.0.1:15509 (org.apache.pulsar.broker.PulsarService)
java.io.IOException: Failed to bind Pulsar broker on /127.0.0.1:15509
	at org.apache.pulsar.broker.service.BrokerService.start(BrokerService.java:616) ~[org.apache.pulsar-pulsar-broker-4.0.8.jar:4.0.8]
Caused by: java.io.IOException: it was refused
	at org.apache.pulsar.PulsarStandalone.start(PulsarStandalone.java:354)
	... 3 more
Caused by: io.netty.channel.unix.Errors$NativeIoException: bind(..) failed with error(-98): Address already in use
	Suppressed: java.lang.RuntimeException: Rethrowing promise failure cause
		at io.netty.util.concurrent.DefaultPromise.sync(DefaultPromise.java:420)
2026-11-25 02:31:35,207 ERROR Failed to start pulsar service. (org.apache.pulsar.PulsarStandaloneStarter)
Caused by: java.lang.Error: what came of it
`, "ERROR Failed to start Pulsar service: Failed to bind Pulsar broker on /127.0.0.1:15509 (org.apache.pulsar.broker.PulsarService); " +
			"java.io.IOException: Failed to bind Pulsar broker on /127.0.0.1:15509; " +
			"Caused by: io.netty.channel.unix.Errors$NativeIoException: bind(..) failed with error(-98): Address already in use"},
		{"no complaint", "starting\nthat was all\n\n", "that was all"},
		{"nothing", "\n \n", "it printed nothing"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := cause(tt.said); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
	if got := cause("error: " + strings.Repeat("é", causeLimit)); len(got) > causeLimit+len("…") || !strings.HasSuffix(got, "é…") {
		t.Errorf("a long line became %q, of %d bytes", got, len(got))
	}
}

package cli

import (
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"sixnines/internal/disk"
	"sixnines/result"
)

// lossPair is one timeline under two settings of a broker: with the first, acknowledged messages are lost, with the
// second none is.
type lossPair struct {
	name         string
	loses, keeps faultCell
	power        bool // the timeline has a power failure
	sample       bool // it is always tested: its nodes start at once
	actions      string
	window       time.Duration
}

// with returns the cell with other options.
func (c faultCell) with(options string) faultCell {
	c.options = options
	return c
}

// set returns the cell with other settings.
func (c faultCell) set(settings string) faultCell {
	c.settings = settings
	return c
}

func lossPairs() []lossPair {
	jetstream := faultCell{driver: "jetstream", product: "nats", nodes: 1}
	redis := faultCell{driver: "redis-streams", product: "redis", nodes: 1}
	rabbitmq := faultCell{driver: "rabbitmq", product: "rabbitmq", nodes: 3}
	kafka := faultCell{driver: "kafka", product: "kafka", nodes: 3, settings: `java.heap: 256m, broker.session.timeout.ms: "3000", broker.heartbeat.interval.ms: "500"`}
	cluster := jetstream
	cluster.nodes = 3
	return []lossPair{
		{name: "redis appendfsync", power: true, sample: true,
			loses: redis.set(`appendonly: "yes", appendfsync: everysec`), keeps: redis.set(`appendonly: "yes", appendfsync: always`),
			// Redis syncs when the second of its clock changes: of two failures, at most one is right after that.
			actions: "  - {at: 1500ms, power: {node: all}, restart: 100ms}\n  - {at: 3s, power: {node: all}, restart: 100ms}\n", window: 3200 * time.Millisecond},
		{name: "jetstream sync_interval", power: true, sample: true,
			loses: jetstream, keeps: jetstream.set("jetstream.sync_interval: always"),
			actions: "  - {at: 2s, power: {node: all}, restart: 100ms}\n", window: 2200 * time.Millisecond},
		{name: "jetstream replicas",
			loses: cluster.with("replicas: 1, storage: memory"), keeps: cluster.with("replicas: 3, storage: memory"),
			actions: "  - {at: 3s, kill: {node: leader}, restart: 1s}\n", window: 8 * time.Second},
		{name: "rabbitmq queue_type",
			loses: rabbitmq.with("queue_type: classic"), keeps: rabbitmq.with("queue_type: quorum"),
			actions: "  - {at: 3s, kill: {node: leader}, restart: 1s}\n", window: 8 * time.Second},
		{name: "kafka acks",
			loses: kafka.with(`acks: "1", idempotence: "off", replication_factor: 3`), keeps: kafka.with("acks: all, replication_factor: 3, min_insync_replicas: 2"),
			// What the leader acknowledges while its followers are frozen, it alone has, and it does not come back.
			actions: "  - {at: 3s, freeze: {node: followers}, for: 5s}\n  - {at: 7s, kill: {node: leader}}\n", window: 20 * time.Second},
	}
}

// TestPairs: a setting that a broker's documents say prevents losses decides whether acknowledged messages are lost
// under the same timeline, and the report says how many.
func TestPairs(t *testing.T) {
	if testing.Short() {
		t.Skip("takes its time")
	}
	every := os.Getenv(faultsVariable) == "all"
	for _, p := range lossPairs() {
		if !every && !p.sample {
			continue
		}
		t.Run(p.name, func(t *testing.T) {
			p.loses.installed(t)
			if err := disk.Check(); p.power && err != nil {
				t.Skip("SKIPPED: " + err.Error())
			}
			for name, c := range map[string]faultCell{"loses": p.loses, "keeps": p.keeps} {
				t.Run(name, func(t *testing.T) {
					r := c.start(t, "pattern: publish, consumers: 0, rate: 300/s, size: 128B, timeout: 2s", p.actions, p.window).ended(t, false)
					r.judged(t)
					r.accounted(t, name == "loses")
				})
			}
		})
	}
}

// accounted checks that all that the broker keeps was read, and whether acknowledged messages are lost.
func (r *faultRun) accounted(t *testing.T, loses bool) {
	t.Helper()
	acked := r.Counters.Acked
	least, most := r.LostAcked()
	t.Logf("of %d acknowledged, %d to %d are lost", acked, least, most)
	if r.ReadBack == nil || r.ReadBack.Outcome != result.ReadBackDone {
		t.Fatalf("what the broker keeps was not read: %+v\n%s", r.ReadBack, r.said)
	}
	if acked < 20 || most > acked || loses != (least > 0) || !loses && most > 0 {
		t.Errorf("of %d acknowledged, %d to %d are lost\n%s", acked, least, most, r.said)
	}
	out, err := exec.Command("sixnines", "report", r.file).CombinedOutput()
	if says := strings.Contains(string(out), grouped(least)+" lost although acknowledged"); err != nil || says != loses {
		t.Errorf("the report says how many: %t, %v\n%s", says, err, out)
	}
}

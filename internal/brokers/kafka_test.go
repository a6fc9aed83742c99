package brokers_test

import (
	"context"
	"net"
	"os"
	"strings"
	"testing"

	"sixnines/internal/brokers"
	"sixnines/internal/brokers/brokertest"
)

// accepts reports whether somebody listens at every one of the addresses.
func accepts(t *testing.T, addresses string) bool {
	t.Helper()
	for _, address := range strings.Split(addresses, ",") {
		c, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", address)
		if err != nil {
			t.Log(err)
			return false
		}
		c.Close()
	}
	return true
}

func TestKafkaRunsAndComesBack(t *testing.T) {
	for _, test := range []struct {
		product string
		nodes   int
		long    bool
	}{{"kafka", 1, false}, {"kafka-0.8", 1, true}, {"kafka-0.9", 1, true}} {
		t.Run(test.product, func(t *testing.T) {
			if test.long && testing.Short() {
				t.Skip("starts virtual machines; not with -short")
			}
			// A killed broker can start again when its session has expired.
			c := brokertest.Start(t, test.product, brokers.Options{Nodes: test.nodes, Settings: map[string]string{"java.heap": "256m",
				"broker.session.timeout.ms": "2000", "broker.heartbeat.interval.ms": "300"}})
			t.Logf("%s %s (%s) at %s in %s", c.Product, c.Version, c.Origin, c.URL, c.Dir)
			if n := len(strings.Split(c.URL, ",")); n != test.nodes || !accepts(t, c.URL) {
				t.Errorf("%d addresses, or nobody there: %s", n, c.URL)
			}
			before := c.Nodes()[0].PID
			brokertest.Restart(t, c)()
			if !accepts(t, c.URL) || c.Nodes()[0].PID == before {
				t.Errorf("after a restart process %d, which was %d", c.Nodes()[0].PID, before)
			}
			if err := c.Stop(t.Context()); err != nil {
				t.Fatal(err)
			}
			if _, err := os.Stat(c.Dir); !os.IsNotExist(err) {
				t.Errorf("%s is left behind: %v", c.Dir, err)
			}
		})
	}
}

// TestKafkaWithTLSAndLoginStarts only checks the start; the driver's tests check that
// clients can log in.
func TestKafkaWithTLSAndLoginStarts(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a virtual machine; not with -short")
	}
	c := brokertest.Start(t, "kafka", brokers.Options{TLS: brokertest.NewCertificates(t).Server(true),
		User: "ada", Password: "lovelace", MaxMessage: 8 << 20, Settings: map[string]string{"java.heap": "256m"}})
	if !accepts(t, c.URL) {
		t.Error("nobody listens")
	}
}

// fakeKafka makes a directory that looks like an installation, and a java.
func fakeKafka(t *testing.T, version string) (dir, java string) {
	t.Helper()
	dir, java = t.TempDir(), t.TempDir()
	if err := os.MkdirAll(dir+"/libs", 0o755); err != nil {
		t.Fatal(err)
	}
	for name, mode := range map[string]os.FileMode{dir + "/libs/kafka-clients-" + version + ".jar": 0o644, java + "/java": 0o755} {
		if err := os.WriteFile(name, []byte("#!/bin/sh\nexit 1\n"), mode); err != nil {
			t.Fatal(err)
		}
	}
	return dir, java
}

func TestKafkaIsFoundWhereItsVariableSays(t *testing.T) {
	p, _ := brokers.Lookup("kafka")
	dir, java := fakeKafka(t, "3.9.1")
	h := brokers.Home{Dir: t.TempDir(), Environ: []string{"PATH=" + java, "KAFKA_HOME=" + dir}}
	in, err := p.Find(t.Context(), h)
	if err != nil || in.Version != "3.9.1" || in.Path != dir {
		t.Errorf("found %+v, %v", in, err)
	}
	h.Environ[1] = "KAFKA_HOME=" + t.TempDir()
	if _, err := p.Find(t.Context(), h); err == nil || !strings.Contains(err.Error(), "KAFKA_HOME") {
		t.Errorf("an empty directory was taken for Kafka: %v", err)
	}
}

// Features of a new cluster are what the tool formats it with, where the version has such.
func TestKafkaIsFormattedWithFeatures(t *testing.T) {
	p, _ := brokers.Lookup("kafka")
	for version, want := range map[string]string{
		"4.3.1": "--feature eligible.leader.replicas.version=0",
		"3.2.0": "Kafka 3.2.0 has no such features",
	} {
		dir, java := fakeKafka(t, version)
		if err := os.WriteFile(java+"/java", []byte("#!/bin/sh\necho \"$@\"\nexit 1\n"), 0o755); err != nil {
			t.Fatal(err)
		}
		_, err := brokers.Start(t.Context(), p, brokers.Options{Home: brokers.Home{Dir: t.TempDir(), Environ: []string{"PATH=" + java + ":/bin:/usr/bin", "KAFKA_HOME=" + dir}},
			Settings: map[string]string{"feature.eligible.leader.replicas.version": "0"}})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", version, err, want)
		}
	}
}

func TestKafkaIsPlanned(t *testing.T) {
	for _, name := range []string{"kafka", "kafka-0.8", "kafka-0.9"} {
		p, _ := brokers.Lookup(name)
		h := brokers.Home{Dir: t.TempDir()}
		steps, err := p.Plan(context.Background(), h)
		if err != nil || len(steps) == 0 {
			t.Fatalf("%s: %v, %v", name, steps, err)
		}
		last := steps[len(steps)-1]
		if last.Moves[last.Dir] == "" || last.Moves[last.Dir] == last.Dir {
			t.Errorf("%s: a half of it can be found: %+v", name, last)
		}
		if pom := last.Files["pom.xml"]; !strings.Contains(pom, "<groupId>org.apache.kafka</groupId>") {
			t.Errorf("%s: %s", name, pom)
		}
	}
}

// Versions that end on today's Java without JAXB get it, and no others.
func TestKafkaOfJavaEight(t *testing.T) {
	kafka, _ := brokers.Lookup("kafka")
	for version, wanted := range map[string]bool{"0.9.0.0": false, "0.10.0.1": true, "0.10.1.0": true, "0.11.0.3": true, "1.0.0": false, "4.3.1": false} {
		p, err := kafka.InVersion(version)
		if err != nil {
			t.Fatal(err)
		}
		steps, err := p.Plan(t.Context(), brokers.Home{Dir: t.TempDir()})
		if err != nil {
			t.Fatal(err)
		}
		if pom := steps[len(steps)-1].Files["pom.xml"]; strings.Contains(pom, "<artifactId>jaxb-api</artifactId>") != wanted {
			t.Errorf("%s: %s", version, pom)
		}
	}
}

package brokers

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// The versions that have names of their own. 4.3.1 is the last whose artifacts were all
// available. 0.8.2.2 is the last of the protocol's first generation, and 0.9.0.0 its
// successor, with which many published figures of Kafka were measured.
const (
	kafkaVersion = "4.3.1"
	kafka08      = "0.8.2.2"
	kafka09      = "0.9.0.0"
	kafkaPrefix  = "kafka-" // of the directories below the home; the version follows
)

// Kafka is Apache Kafka: of the version that KAFKA_HOME or PATH leads to, else
// 4.3.1. From 3.3 on it runs without ZooKeeper, each node broker and controller
// in one.
//
// Beside Kafka's own, Options.Settings may have java.heap (the heap's fixed
// size, 512m), java.options (further arguments of the virtual machine,
// separated by spaces) and features of a new cluster (feature.NAME).
func Kafka() Product {
	return Product{
		Name:     "kafka",
		Summary:  "Apache Kafka: partitioned logs, consumer groups, transactions",
		Drivers:  []string{"kafka"},
		Led:      []string{"kafka"},
		Secures:  []string{"kafka"},
		Clusters: []int{1, 3},
		Starts:   8 * time.Second,
		Variable: "KAFKA_HOME",
		find:     kafkaJars().find,
		plan:     func(_ context.Context, h Home) ([]Step, error) { return planKafka(h, kafkaVersion), nil },
		versions: &versions{prefix: kafkaPrefix, usual: kafkaVersion, oldest: kafka08, find: kafkaJars().installed, plan: planKafka},
		deploy:   deployKafka,
	}
}

// Kafka08 is Kafka 0.8.2.2 with a ZooKeeper of its own: brokers whose protocol knows
// neither groups nor the creation of topics are still in use, and clients claim to
// speak with them.
func Kafka08() Product {
	return oldKafka("kafka-0.8", kafka08, "Apache Kafka 0.8.2 with ZooKeeper: the oldest supported protocol")
}

// Kafka09 is Kafka 0.9.0.0 with a ZooKeeper of its own.
func Kafka09() Product {
	return oldKafka("kafka-0.9", kafka09, "Apache Kafka 0.9.0.0 with ZooKeeper: the first with consumer groups, for comparisons with figures of its time")
}

// oldKafka returns an old version of Kafka as a product with a name of its own.
func oldKafka(name, version, summary string) Product {
	p := Kafka().at(name, version)
	p.Summary, p.Drivers, p.Secures, p.Clusters = summary, nil, nil, []int{1}
	return p
}

// kafkaJars says how to find Kafka: the distribution and planKafka have the same layout
// of jars.
func kafkaJars() javaProduct {
	return javaProduct{name: "kafka", variable: "KAFKA_HOME", scripts: []string{"kafka-server-start.sh", "kafka-server-start"},
		jar: "libs/kafka-clients-", dir: kafkaPrefix + kafkaVersion}
}

// versionOf returns the numbers of a version such as 3.9.1, up to the first part that is
// not a number.
func versionOf(version string) []int {
	var numbers []int
	for _, word := range strings.Split(version, ".") {
		n, err := strconv.Atoi(word)
		if err != nil {
			break
		}
		numbers = append(numbers, n)
	}
	return numbers
}

// since reports whether the version is not older than major.minor.
func since(version string, major, minor int) bool {
	return slices.Compare(versionOf(version), []int{major, minor}) >= 0
}

// kafkaArtifacts returns the Maven artifacts of a version; Maven resolves their dependencies.
func kafkaArtifacts(version string) []string {
	scala := "2.13"
	if !since(version, 2, 4) {
		scala = "2.11"
	}
	all := []string{"org.apache.kafka:kafka_" + scala + ":" + version, "org.apache.kafka:kafka-clients:" + version}
	// From 1.1 on Kafka does not depend on a logging backend. Without one the log is empty,
	// and does not say why a broker did not start.
	switch {
	case since(version, 4, 0):
		all = append(all, "org.apache.kafka:kafka-tools:"+version, "org.apache.logging.log4j:log4j-slf4j-impl:2.25.1", "org.apache.logging.log4j:log4j-core:2.25.1")
	case since(version, 1, 1):
		all = append(all, "org.slf4j:slf4j-reload4j:1.7.36")
	case since(version, 0, 10) && !since(version, 1, 0):
		// They take Base64 from a package that Java no longer has since 11, and end with
		// NoClassDefFoundError without it.
		all = append(all, "javax.xml.bind:jaxb-api:2.3.1")
	}
	return all
}

// planKafka lists the steps that fetch the broker and its dependencies.
func planKafka(h Home, version string) []Step {
	var pom strings.Builder
	pom.WriteString("<project><modelVersion>4.0.0</modelVersion><groupId>sixnines</groupId><artifactId>kafka</artifactId><version>1</version><packaging>pom</packaging>\n<dependencies>\n")
	for _, artifact := range kafkaArtifacts(version) {
		part := strings.Split(artifact, ":")
		fmt.Fprintf(&pom, "<dependency><groupId>%s</groupId><artifactId>%s</artifactId><version>%s</version></dependency>\n", part[0], part[1], part[2])
	}
	pom.WriteString("</dependencies></project>\n")
	dir, staged := h.Path(kafkaPrefix+version), h.Path(kafkaPrefix+version+".part")
	return append(planJava(h), Step{
		Doc: "fetch Kafka " + version + " and its dependencies from Maven Central",
		Command: []string{"mvn", "--quiet", "--batch-mode", "org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy-dependencies",
			"-DoutputDirectory=libs", "-DincludeScope=runtime"},
		Dir:   staged,
		Files: map[string]string{"pom.xml": pom.String()},
		Moves: map[string]string{staged: dir},
	})
}

package brokers

import (
	"bytes"
	"context"
	"encoding/xml"
	"fmt"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// The version that is fetched, and the prefix of its directory below the home.
const (
	artemisVersion = "2.40.0"
	artemisPrefix  = "artemis-" // the version follows
)

// Artemis is Apache ActiveMQ Artemis, one node that speaks AMQP 1.0, of the version
// that ARTEMIS_HOME or PATH leads to, else 2.40.0.
//
// The names in Options.Settings are those of elements of core in broker.xml, such as
// journal-datasync. Those that begin with "acceptor." are parameters of the acceptor,
// such as acceptor.amqpCredits, and those that begin with "address." are of all
// addresses, such as address.max-size-bytes. There are java.heap (the heap's fixed
// size, 512m) and java.options, too.
func Artemis() Product {
	return Product{
		Name:     "artemis",
		Summary:  "Apache ActiveMQ Artemis: AMQP 1.0, addresses and queues",
		Drivers:  []string{"amqp10"},
		Secures:  []string{"amqp10"},
		Clusters: []int{1},
		Starts:   10 * time.Second,
		Variable: "ARTEMIS_HOME",
		find:     artemisJars().find,
		plan:     func(_ context.Context, h Home) ([]Step, error) { return planArtemis(h), nil },
		deploy:   deployArtemis,
	}
}

func artemisJars() javaProduct {
	return javaProduct{name: "artemis", variable: "ARTEMIS_HOME", scripts: []string{"artemis"}, jar: "lib/artemis-server-",
		dir: filepath.Join(artemisPrefix+artemisVersion, "apache-artemis-"+artemisVersion)}
}

// planArtemis fetches the distribution.
func planArtemis(h Home) []Step {
	dir := h.Path(artemisPrefix + artemisVersion)
	staged := dir + ".part"
	return append(planJava(h), Step{
		Doc: "fetch ActiveMQ Artemis " + artemisVersion + " from Maven Central",
		Command: []string{"mvn", "--quiet", "--batch-mode", "org.apache.maven.plugins:maven-dependency-plugin:3.6.1:unpack",
			"-Dartifact=org.apache.activemq:apache-artemis:" + artemisVersion + ":tar.gz:bin", "-DoutputDirectory=" + staged},
		Dir: staged,
		// Without a pom.xml Maven's marker files go to an oddly named directory.
		Files: map[string]string{"pom.xml": "<project><modelVersion>4.0.0</modelVersion><groupId>sixnines</groupId><artifactId>artemis</artifactId><version>1</version><packaging>pom</packaging></project>\n"},
		Moves: map[string]string{staged: dir},
	})
}

// deployArtemis writes the files that the product's command "create" writes, without the
// parts that are not needed here: other protocols, the console, a cluster.
func deployArtemis(_ context.Context, in Installation, o *Options) (*deployment, error) {
	if err := refuse(o.Settings, "name", "acceptors", "acceptor.host", "acceptor.port", "acceptor.protocols", "connectors", "address-settings", "security-settings",
		"bindings-directory", "journal-directory", "large-messages-directory", "paging-directory"); err != nil {
		return nil, err
	}
	machine, own, err := newVirtualMachine("artemis", "lib", in, o)
	if err != nil {
		return nil, err
	}
	ports, err := o.ports(1)
	if err != nil {
		return nil, err
	}
	places, err := o.places(1)
	if err != nil {
		return nil, err
	}
	address := places[0].at(ports[0])
	data, etc := filepath.Join(o.Dir, "data"), filepath.Join(o.Dir, "etc")
	for _, dir := range []string{data, etc} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return nil, err
		}
	}
	core := map[string]string{
		"journal-type":     "NIO",
		"security-enabled": fmt.Sprint(o.User != ""),
		// Share of the disk in use, in percent, above which producers silently get no more
		// credit.
		"max-disk-usage": "100",
	}
	for _, what := range []string{"bindings", "journal", "large-messages", "paging"} {
		core[what+"-directory"] = filepath.Join(data, what)
	}
	acceptor, addresses := map[string]string{"protocols": "AMQP"}, map[string]string{}
	files := map[string]string{
		"management.xml": `<management-context xmlns="http://activemq.apache.org/schema"/>` + "\n",
		"bootstrap.xml": `<broker xmlns="http://activemq.apache.org/schema"><jaas-security domain="activemq"/><server configuration="` +
			escapeXML(fileURL(filepath.Join(etc, "broker.xml"))) + `"/></broker>` + "\n",
		"login.config": `activemq { org.apache.activemq.artemis.spi.core.security.jaas.PropertiesLoginModule required
	org.apache.activemq.jaas.properties.user="users.properties"
	org.apache.activemq.jaas.properties.role="roles.properties"; };
`,
	}
	if o.TLS != nil {
		acceptor["sslEnabled"], acceptor["keyStoreType"], acceptor["keyStorePath"] = "true", "PEMCFG", filepath.Join(etc, "server.pemcfg")
		files["server.pemcfg"] = "source.key=" + o.TLS.Key + "\nsource.cert=" + o.TLS.Cert + "\n"
		if o.TLS.CA != "" {
			acceptor["needClientAuth"], acceptor["trustStoreType"], acceptor["trustStorePath"] = "true", "PEM", o.TLS.CA
		}
	}
	if o.User != "" {
		files["users.properties"], files["roles.properties"] = o.User+" = "+o.Password+"\n", artemisRole+" = "+o.User+"\n"
	}
	if o.account != nil {
		files["users.properties"] += o.account.user + " = " + o.account.password + "\n"
		files["roles.properties"] += accountRole + " = " + o.account.user + "\n"
	}
	for name, value := range own {
		if rest, ok := strings.CutPrefix(name, "acceptor."); ok {
			acceptor[rest] = value
		} else if rest, ok := strings.CutPrefix(name, "address."); ok {
			addresses[rest] = value
		} else {
			core[name] = value
		}
	}
	files["broker.xml"] = artemisConfig(address, core, acceptor, addresses, o.account)
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(etc, name), []byte(text), 0o600); err != nil {
			return nil, err
		}
	}
	machine.options = append([]string{"-Dartemis.home=" + in.Path, "-Dartemis.instance=" + o.Dir, "-Dartemis.instance.etc=" + etc,
		"-Djava.security.auth.login.config=" + filepath.Join(etc, "login.config")}, machine.options...)
	scheme := "amqp"
	if acceptor["sslEnabled"] == "true" {
		scheme = "amqps"
	}
	return &deployment{
		url:      scheme + "://" + address,
		settings: among(core, "journal-type", "journal-datasync", "journal-buffer-timeout", "persistence-enabled"),
		nodes: []process{{name: "artemis", place: places[0], command: machine.command("org.apache.activemq.artemis.cli.Artemis", "run"), env: o.Home.Environ,
			dir: data, log: filepath.Join(o.Dir, "artemis.log"), ready: func(ctx context.Context) error { return greetArtemis(ctx, address, o.TLS) }}},
	}, nil
}

// artemisRole is the role with all permissions, and accountRole that of the account of a secured broker.
const (
	artemisRole = "sixnines"
	accountRole = "bench"
)

// everyMatch is that of all addresses.
const everyMatch = "#"

// securitySettings are permissions by what they match. Of the matches of an address the narrowest counts alone, so that each names
// the role with all permissions.
func securitySettings(a *account) string {
	granted := map[string][]string{everyMatch: nil}
	if a != nil {
		for _, g := range a.grants {
			granted[g.Of] = append(granted[g.Of], g.Right)
		}
	}
	var b strings.Builder
	for _, match := range slices.Sorted(maps.Keys(granted)) {
		fmt.Fprintf(&b, "    <security-setting match=%q>\n", match)
		for _, what := range []string{"createAddress", "deleteAddress", "createDurableQueue", "deleteDurableQueue", "createNonDurableQueue",
			"deleteNonDurableQueue", "send", "consume", "browse", "manage"} {
			roles := artemisRole
			if slices.Contains(granted[match], what) {
				roles += "," + accountRole
			}
			fmt.Fprintf(&b, "      <permission type=%q roles=%q/>\n", what, roles)
		}
		b.WriteString("    </security-setting>\n")
	}
	return b.String()
}

// artemisConfig returns broker.xml.
func artemisConfig(address string, core, acceptor, addresses map[string]string, a *account) string {
	var b strings.Builder
	elements := func(indent string, all map[string]string) {
		for _, name := range slices.Sorted(maps.Keys(all)) {
			fmt.Fprintf(&b, "%s<%s>%s</%s>\n", indent, name, escapeXML(all[name]), name)
		}
	}
	b.WriteString("<configuration xmlns=\"urn:activemq\">\n<core xmlns=\"urn:activemq:core\">\n  <name>sixnines</name>\n")
	elements("  ", core)
	var parameters []string
	for _, name := range slices.Sorted(maps.Keys(acceptor)) {
		parameters = append(parameters, name+"="+url.QueryEscape(acceptor[name]))
	}
	fmt.Fprintf(&b, "  <acceptors><acceptor name=\"amqp\">%s</acceptor></acceptors>\n", escapeXML("tcp://"+address+"?"+strings.Join(parameters, ";")))
	b.WriteString("  <security-settings>\n" + securitySettings(a) + "  </security-settings>\n  <address-settings><address-setting match=\"#\">\n")
	elements("    ", addresses)
	b.WriteString("  </address-setting></address-settings>\n</core>\n</configuration>\n")
	return b.String()
}

func escapeXML(text string) string {
	var b bytes.Buffer
	xml.EscapeText(&b, []byte(text)) // into memory, where it cannot fail
	return b.String()
}

func fileURL(path string) string { return (&url.URL{Scheme: "file", Path: path}).String() }

// saslGreeting is the first bytes of an AMQP 1.0 client that logs in by SASL.
const saslGreeting = "AMQP\x03\x01\x00\x00"

// greetArtemis returns nil if the broker answers with the same greeting, or if it asks for
// client certificates and encrypts.
func greetArtemis(ctx context.Context, address string, t *ServerTLS) error {
	answer, err := greet(ctx, address, t, saslGreeting, len(saslGreeting))
	if err == nil && answer != nil && string(answer) != saslGreeting {
		err = fmt.Errorf("the answer to a greeting is %q", answer)
	}
	return err
}

package brokers

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

const (
	pulsarVersion = "4.0.8"
	pulsarPrefix  = "pulsar-" // of the directories below the home; the version follows
)

// pulsarFraming is the room for metadata in limits of messages, bytes.
const pulsarFraming = 16 << 10

// Pulsar is Apache Pulsar standalone: broker, bookie and metadata in one process.
//
// Beside lines of standalone.conf, Options.Settings may have java.heap (the heap's
// fixed size, 768m), java.direct (most memory beside it, 768m) and java.options
// (further arguments of the virtual machine, separated by spaces).
//
// A login is a token: Options.User is the role in it, and Options.Password makes the
// key that signs it. Cluster.Info has the "token".
func Pulsar() Product {
	return Product{
		Name:     "pulsar",
		Summary:  "Apache Pulsar standalone: broker, bookie and metadata in one process",
		Drivers:  []string{"pulsar"},
		Secures:  []string{"pulsar"},
		Clusters: []int{1},
		Starts:   20 * time.Second,
		Variable: "PULSAR_HOME",
		find:     findPulsar,
		plan:     func(_ context.Context, h Home) ([]Step, error) { return planPulsar(h, pulsarVersion), nil },
		versions: &versions{prefix: pulsarPrefix, usual: pulsarVersion, oldest: "3.0.0", find: installedPulsar, plan: planPulsar},
		deploy:   deployPulsar,
	}
}

func findPulsar(ctx context.Context, h Home) (Installation, error) {
	if dir := h.Getenv("PULSAR_HOME"); dir != "" {
		version, err := pulsarIn(dir)
		if err != nil {
			return Installation{}, fmt.Errorf("%w: PULSAR_HOME names %s: %w", ErrUnusable, dir, err)
		}
		return withJava(h, "pulsar", Installation{Version: version, Path: dir, Origin: "named by PULSAR_HOME"})
	}
	if path, ok := h.LookPath("pulsar"); ok {
		if real, err := filepath.EvalSymlinks(path); err == nil {
			path = real
		}
		dir := filepath.Dir(filepath.Dir(path))
		if version, err := pulsarIn(dir); err == nil { // else another program of that name
			return withJava(h, "pulsar", Installation{Version: version, Path: dir, Origin: "on PATH"})
		}
	}
	return installedPulsar(ctx, h, "pulsar", h.Path(pulsarPrefix+pulsarVersion))
}

// installedPulsar finds what planPulsar has installed in the directory: the
// distribution, whose files lie in one of their own.
func installedPulsar(_ context.Context, h Home, product, dir string) (Installation, error) {
	inner := filepath.Join(dir, "apache-"+filepath.Base(dir))
	version, err := pulsarIn(inner)
	if err != nil {
		return Installation{}, notInstalled(dir)
	}
	return withJava(h, product, Installation{Version: version, Path: inner, Origin: byUs})
}

// pulsarIn returns the version of the Pulsar whose distribution is in dir.
func pulsarIn(dir string) (string, error) {
	const prefix = "org.apache.pulsar-pulsar-broker-"
	jars, err := filepath.Glob(filepath.Join(dir, "lib", prefix+"[0-9]*.jar"))
	if err != nil {
		return "", err
	}
	if len(jars) == 0 {
		return "", fmt.Errorf("it contains no lib/%s….jar: %w", prefix, os.ErrNotExist)
	}
	return strings.TrimSuffix(strings.TrimPrefix(filepath.Base(jars[0]), prefix), ".jar"), nil
}

// planPulsar lists the steps that fetch the distribution.
func planPulsar(h Home, version string) []Step {
	partial := h.Path(pulsarPrefix + version + ".part")
	return append(planJava(h), Step{
		Doc: "fetch Pulsar " + version + " (250 MB) from Maven Central",
		Command: []string{"mvn", "--quiet", "--batch-mode", "--strict-checksums", "org.apache.maven.plugins:maven-dependency-plugin:3.6.1:unpack",
			"-Dartifact=org.apache.pulsar:pulsar-server-distribution:" + version + ":tar.gz:bin", "-DoutputDirectory=" + partial},
		Dir:   partial,
		Moves: map[string]string{partial: h.Path(pulsarPrefix + version)},
	})
}

// deployPulsar writes a standalone broker. The broker's internal clients connect without
// TLS on loopback; with TLS the plain ports of broker and web service are only for them.
func deployPulsar(_ context.Context, in Installation, o *Options) (*deployment, error) {
	if err := refuse(o.Settings, "brokerServicePort*", "webServicePort*", "bindAddress*", "advertised*", "listeningInterface", "allowLoopback",
		"metadataStoreUrl", "configurationMetadataStoreUrl", "zookeeperServers", "bookiePort"); err != nil {
		return nil, err
	}
	vm, ok := java(o.Home)
	if !ok {
		return nil, notInstalled("java on PATH or below JAVA_HOME")
	}
	settings, err := readProperties(filepath.Join(in.Path, "conf", "standalone.conf"))
	if err != nil {
		return nil, fmt.Errorf("pulsar: %w", err)
	}
	ports, err := o.ports(5)
	if err != nil {
		return nil, err
	}
	places, err := o.places(1)
	if err != nil {
		return nil, err
	}
	at := places[0]
	address, control := at.at(ports[0]), at.at(ports[1])
	dir := filepath.Join(o.Dir, "pulsar")
	maps.Copy(settings, map[string]string{
		"brokerServicePort":  strconv.Itoa(ports[0]),
		"webServicePort":     strconv.Itoa(ports[1]),
		"bindAddress":        at.ip(),
		"bindAddresses":      "",
		"advertisedAddress":  at.ip(),
		"listeningInterface": at.device(),
		"allowLoopback":      "true",
		// Smaller caches than the defaults: the load generator shares the machine.
		"dbStorage_writeCacheMaxSizeMb":     "64",
		"dbStorage_readAheadCacheMaxSizeMb": "32",
		"dbStorage_rocksDB_blockCacheSize":  strconv.Itoa(64 << 20),
		"managedLedgerCacheSizeMB":          "64",
		"webSocketServiceEnabled":           "false",
		// Share of the disk in use above which the bookie takes no more entries; the rest of a large disk is room enough.
		"diskUsageThreshold":     "0.9999",
		"diskUsageWarnThreshold": "0.9999",
	})
	if o.TLS != nil {
		settings["tlsCertificateFilePath"], settings["tlsKeyFilePath"] = o.TLS.Cert, o.TLS.Key
		if o.TLS.CA != "" {
			settings["tlsTrustCertsFilePath"], settings["tlsRequireTrustedClientCertOnConnect"] = o.TLS.CA, "true"
		}
	}
	if limit := o.MaxMessage + pulsarFraming; limit > 5<<20 { // what it carries by itself
		settings["maxMessageSize"] = strconv.Itoa(limit)
		settings["nettyMaxFrameSizeBytes"] = strconv.Itoa(limit + pulsarFraming)
	}
	info := map[string]string{"http": "http://" + control}
	if o.User != "" || o.Password != "" {
		info["token"] = pulsarLogin(settings, o)
	}
	var login *Access
	if o.account != nil {
		// The token of the administrator stays here.
		login = &Access{Options: map[string]string{"namespace": pulsarTenant + "/" + pulsarNamespace}, Files: map[string]string{"token": o.securedPath("token")}}
		if err := os.WriteFile(login.Files["token"], []byte(pulsarToken(o.account.user, pulsarKey(o))), 0o600); err != nil {
			return nil, err
		}
		delete(info, "token")
		settings["authorizationEnabled"] = "true"
	}
	own := maps.Clone(o.Settings)
	maps.DeleteFunc(own, func(name, _ string) bool { return strings.HasPrefix(name, "java.") })
	maps.Copy(settings, own)
	scheme, web := "pulsar", control
	if settings["tlsCertificateFilePath"] != "" {
		scheme, web = "pulsar+ssl", at.at(ports[4])
		settings["webServicePortTls"] = strconv.Itoa(ports[4])
		settings["brokerServicePort"], settings["brokerServicePortTls"] = strconv.Itoa(ports[3]), strconv.Itoa(ports[0])
	}
	config := filepath.Join(dir, "standalone.conf")
	if err := writeProperties(config, settings); err != nil {
		return nil, err
	}
	machine := pulsarMachine(vm, in, dir, o.Settings)
	if err := machine.writeLogging(); err != nil {
		return nil, err
	}
	metadata := filepath.Join(dir, "metadata")
	forget := filepath.Join(dir, "forget.conf")
	if err := writeProperties(forget, map[string]string{"metadataServiceUri": "metadata-store:rocksdb://" + metadata}); err != nil {
		return nil, err
	}
	token := strings.TrimPrefix(settings["brokerClientAuthenticationParameters"], "token:")
	node := process{name: "pulsar", place: at, env: o.Home.Environ, dir: dir, log: filepath.Join(dir, "pulsar.log"),
		command: machine.command("org.apache.pulsar.PulsarStandaloneStarter", "--config", config, "--no-stream-storage", "--no-functions-worker",
			"--metadata-dir", metadata, "--bookkeeper-dir", filepath.Join(dir, "bookkeeper"),
			"--bookkeeper-port", strconv.Itoa(ports[2]), "--advertised-address", at.ip()),
		// A killed bookie is still registered. If the next one finds that registration late,
		// it repeatedly acquires and drops its own, and no topic can be made
		// (apache/pulsar#17759). Listing the bookies removes the old registration.
		before: func(ctx context.Context) error {
			if _, err := os.Stat(metadata); err != nil {
				return nil // the first start
			}
			return machine.run(ctx, o.Home.Environ, "org.apache.bookkeeper.bookie.BookieShell", "-conf", forget, "listbookies", "-readwrite")
		},
		// The ports are open before there is a namespace to make topics in.
		ready: func(ctx context.Context) error {
			if err := listens(address)(ctx); err != nil {
				return err
			}
			if err := pulsarAnswers(ctx, control, token); err != nil || o.account == nil {
				return err
			}
			return pulsarAccount(ctx, control, token, o.account)
		}}
	return &deployment{
		// The driver makes and removes topics by the web service.
		url:  scheme + "://" + address + "/?http=" + web,
		info: info,
		settings: among(settings, "journalSyncData", "maxMessageSize", "brokerDeduplicationEnabled", "managedLedgerDefaultAckQuorum",
			"managedLedgerNewEntriesCheckDelayInMillis"),
		nodes: []process{node},
		login: login,
	}, nil
}

// pulsarMachine returns the virtual machine with the options of the distribution's script,
// except its collector, which would take 2.4 GB.
func pulsarMachine(java string, in Installation, dir string, settings map[string]string) virtualMachine {
	vm := virtualMachine{program: java, libs: filepath.Join(in.Path, "lib"), heap: "768m", dir: dir}
	direct := "768m"
	if heap := settings["java.heap"]; heap != "" {
		vm.heap = heap
	}
	if most := settings["java.direct"]; most != "" {
		direct = most
	}
	vm.options = []string{"-XX:MaxDirectMemorySize=" + direct, "-Djava.net.preferIPv4Stack=true", "-Dio.netty.tryReflectionSetAccessible=true",
		"-Dio.netty.recycler.maxCapacityPerThread=4096", "-Dpulsar.allocator.exit_on_oom=true", "-Dlog4j.shutdownHookEnabled=false", "-Dlog4j2.is.webapp=false",
		"-Dbookkeeper.metadata.bookie.drivers=org.apache.pulsar.metadata.bookkeeper.PulsarMetadataBookieDriver",
		"-Dbookkeeper.metadata.client.drivers=org.apache.pulsar.metadata.bookkeeper.PulsarMetadataClientDriver"}
	for _, open := range []string{"java.base/java.io", "java.base/java.util.zip", "java.base/java.nio", "java.base/jdk.internal.misc",
		"java.base/sun.net", "java.base/jdk.internal.platform", "java.management/sun.management", "jdk.management/com.sun.management.internal"} {
		vm.options = append(vm.options, "--add-opens="+open+"=ALL-UNNAMED")
	}
	vm.options = append(vm.options, strings.Fields(settings["java.options"])...)
	return vm
}

// pulsarLogin sets login by tokens for all clients, the broker's internal ones included, and
// returns the token of o.User.
func pulsarLogin(settings map[string]string, o *Options) string {
	key := pulsarKey(o)
	token := pulsarToken(o.User, key)
	maps.Copy(settings, map[string]string{
		"authenticationEnabled":                "true",
		"authenticationProviders":              "org.apache.pulsar.broker.authentication.AuthenticationProviderToken",
		"tokenSecretKey":                       "data:;base64," + base64.StdEncoding.EncodeToString(key),
		"superUserRoles":                       o.User,
		"brokerClientAuthenticationPlugin":     "org.apache.pulsar.client.impl.auth.AuthenticationToken",
		"brokerClientAuthenticationParameters": "token:" + token,
	})
	return token
}

// pulsarKey signs tokens.
func pulsarKey(o *Options) []byte {
	key := sha256.Sum256([]byte(o.Password))
	return key[:]
}

// pulsarToken returns a JSON Web Token (RFC 7519) of a role, signed by HMAC and SHA-256.
func pulsarToken(role string, key []byte) string {
	claims, _ := json.Marshal(map[string]string{"sub": role}) // of strings it never fails
	text := base64.RawURLEncoding.EncodeToString([]byte(`{"alg":"HS256"}`)) + "." + base64.RawURLEncoding.EncodeToString(claims)
	sign := hmac.New(sha256.New, key)
	sign.Write([]byte(text))
	return text + "." + base64.RawURLEncoding.EncodeToString(sign.Sum(nil))
}

// pulsarAnswers returns nil when the web service knows the namespace public/default,
// which the broker creates last.
func pulsarAnswers(ctx context.Context, control, token string) error {
	header := http.Header{}
	if token != "" {
		header.Set("Authorization", "Bearer "+token)
	}
	text, err := fetchWith(ctx, "http://"+control+"/admin/v2/namespaces/public", header)
	if err != nil {
		return err
	}
	var namespaces []string
	if err := json.Unmarshal(text, &namespaces); err != nil {
		return fmt.Errorf("%s: %w", control, err)
	}
	if !slices.Contains(namespaces, "public/default") {
		return fmt.Errorf("the namespace public/default is not among %q yet", namespaces)
	}
	return nil
}

// readProperties reads a file as writeProperties writes it, with comments.
func readProperties(path string) (map[string]string, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	settings := map[string]string{}
	for line := range strings.Lines(string(text)) {
		name, value, ok := strings.Cut(strings.TrimSpace(line), "=")
		if ok && !strings.HasPrefix(name, "#") {
			settings[strings.TrimSpace(name)] = strings.ReplaceAll(strings.TrimSpace(value), `\\`, `\`)
		}
	}
	return settings, nil
}

package all_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/sasl/scram"

	"sixnines/internal/brokers"
	"sixnines/internal/brokers/brokertest"
)

// kafkaGuard administers a Kafka broker by the listener that is its own.
type kafkaGuard struct {
	*brokers.Cluster
	t     *testing.T
	admin *kadm.Client
}

func guardKafka(t *testing.T) guard {
	g := &kafkaGuard{t: t, Cluster: brokertest.Start(t, "kafka", brokers.Options{User: "root", Password: "root", Settings: map[string]string{
		"java.heap": "256m", "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
		"super.users": "User:root;User:ANONYMOUS", "allow.everyone.if.no.acl.found": "true"}})}
	client, err := kgo.NewClient(kgo.SeedBrokers(g.Info["internal"]))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	g.admin = kadm.NewClient(client)
	// What a rule is about is allowed to those only whom a rule allows it.
	for _, rule := range []*kadm.ACLBuilder{kadm.NewACLs().Topics("s9").ResourcePatternType(kadm.ACLPatternPrefixed),
		kadm.NewACLs().TransactionalIDs("*").ResourcePatternType(kadm.ACLPatternLiteral)} {
		if err := g.create(rule.Operations(kadm.OpAll).Allow("User:*").AllowHosts("*")); err != nil {
			t.Fatal(err)
		}
	}
	return g
}

func (g *kafkaGuard) url(driver string) string { return g.URLFor(driver) }

func (g *kafkaGuard) create(rule *kadm.ACLBuilder) error {
	answers, err := g.admin.CreateACLs(g.t.Context(), rule)
	for _, a := range answers {
		if err == nil {
			err = a.Err
		}
	}
	return err
}

func (g *kafkaGuard) rule(user, password string, forbidden ...deed) error {
	answers, err := g.admin.AlterUserSCRAMs(g.t.Context(), nil, []kadm.UpsertSCRAM{{User: user, Mechanism: kadm.ScramSha256, Iterations: 4096, Password: password}})
	if err == nil {
		err = answers.Error()
	}
	topics := func() *kadm.ACLBuilder {
		return kadm.NewACLs().Topics("s9").ResourcePatternType(kadm.ACLPatternPrefixed)
	}
	for d, rule := range map[deed]*kadm.ACLBuilder{publishing: topics().Operations(kadm.OpWrite), subscribing: topics().Operations(kadm.OpRead),
		describing:  topics().Operations(kadm.OpDescribe),
		transacting: kadm.NewACLs().TransactionalIDs("*").ResourcePatternType(kadm.ACLPatternLiteral).Operations(kadm.OpWrite)} {
		if err == nil && slices.Contains(forbidden, d) {
			err = g.create(rule.Deny("User:" + user).DenyHosts("*"))
		}
	}
	if err != nil {
		return err
	}
	// The controller has taken it; the broker does so soon.
	login, err := kgo.NewClient(kgo.SeedBrokers(brokertest.Address(g.t, g.URL)), kgo.SASL(scram.Auth{User: user, Pass: password}.AsSha256Mechanism()))
	if err != nil {
		return err
	}
	defer login.Close()
	for limit := time.Now().Add(refusalPatience); ; time.Sleep(5 * time.Millisecond) {
		if err = login.Ping(g.t.Context()); err == nil {
			break
		}
		if time.Now().After(limit) {
			return err
		}
	}
	for limit := time.Now().Add(refusalPatience); time.Now().Before(limit); time.Sleep(5 * time.Millisecond) {
		rules, err := g.admin.DescribeACLs(g.t.Context(), kadm.NewACLs().AnyResource().ResourcePatternType(kadm.ACLPatternAny).
			Operations().Deny("User:"+user).DenyHosts())
		if err != nil {
			return err
		}
		n := 0
		for _, r := range rules {
			n += len(r.Described)
		}
		if n >= len(forbidden) {
			return nil
		}
	}
	return errors.New("the broker does not know the rule")
}

// rabbitGuard administers a RabbitMQ node by its management plugin.
type rabbitGuard struct{ *brokers.Cluster }

func guardRabbit(t *testing.T) guard {
	return rabbitGuard{brokertest.Start(t, "rabbitmq", brokers.Options{User: "root", Password: "root", Settings: map[string]string{"plugins": "rabbitmq_management"}})}
}

func (g rabbitGuard) url(driver string) string { return g.URLFor(driver) }

func (g rabbitGuard) put(path string, what map[string]string) error {
	body, err := json.Marshal(what)
	if err != nil {
		return err
	}
	q, err := http.NewRequest(http.MethodPut, g.Info["management"]+"/api/"+path, bytes.NewReader(body))
	if err != nil {
		return err
	}
	q.SetBasicAuth("root", "root")
	answer, err := http.DefaultClient.Do(q)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	if answer.StatusCode >= 300 {
		return fmt.Errorf("%s: %s", path, answer.Status)
	}
	return nil
}

func (g rabbitGuard) rule(user, password string, forbidden ...deed) error {
	if err := g.put("users/"+user, map[string]string{"password": password, "tags": ""}); err != nil {
		return err
	}
	may := map[string]string{"configure": ".*", "write": ".*", "read": ".*"}
	for d, name := range map[deed]string{publishing: "write", subscribing: "read"} {
		if slices.Contains(forbidden, d) {
			may[name] = "^$"
		}
	}
	return g.put("permissions/%2F/"+user, may)
}

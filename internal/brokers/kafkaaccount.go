package brokers

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// kafkaAuthorize lets clients do only what they are granted. The listener of the nodes, which asks for no login, may
// do everything.
func kafkaAuthorize(settings map[string]string, o *Options) {
	maps.Copy(settings, map[string]string{
		"authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
		"super.users":           "User:" + o.User + ";User:ANONYMOUS",
	})
}

// kafkaRules are the account's grants as rules. The name of a right is a resource's type, and what it is of are
// arguments of kafka-acls.sh: --operation OPERATION --TYPE NAME, and --resource-pattern-type prefixed.
func kafkaRules(a *account) ([]kmsg.CreateACLsRequestCreation, error) {
	var all []kmsg.CreateACLsRequestCreation
	for _, g := range a.grants {
		rule := kmsg.NewCreateACLsRequestCreation()
		rule.ResourceName, rule.Principal, rule.Host = "kafka-cluster", "User:"+a.user, "*"
		rule.ResourcePatternType, rule.PermissionType = kmsg.ACLResourcePatternTypeLiteral, kmsg.ACLPermissionTypeAllow
		var err error
		if rule.ResourceType, err = kmsg.ParseACLResourceType(strings.ReplaceAll(g.Right, "-", "_")); err != nil {
			return nil, fmt.Errorf("a right on %q: %w", g.Right, err)
		}
		words := strings.Fields(g.Of)
		for i := 0; i+1 < len(words); i++ {
			switch words[i] {
			case "--operation":
				rule.Operation, err = kmsg.ParseACLOperation(words[i+1])
			case "--resource-pattern-type":
				rule.ResourcePatternType, err = kmsg.ParseACLResourcePatternType(words[i+1])
			case "--" + g.Right:
				rule.ResourceName = words[i+1]
			}
			if err != nil {
				return nil, fmt.Errorf("a right on %q: %w", g.Right, err)
			}
		}
		all = append(all, rule)
	}
	return all, nil
}

// kafkaAllow makes the account's rules by the listener of a node, and returns nil when the node knows them.
func kafkaAllow(ctx context.Context, peer string, a *account) error {
	rules, err := kafkaRules(a)
	if err != nil {
		return err
	}
	create := kmsg.NewPtrCreateACLsRequest()
	create.Version, create.Creations = 2, rules
	answer, err := kafkaAsk(ctx, peer, create)
	if err != nil {
		return err
	}
	for _, r := range answer.(*kmsg.CreateACLsResponse).Results {
		if err := kafkaRefused("a rule of the account is not made", []int16{r.ErrorCode}); err != nil {
			return err
		}
	}
	describe := kmsg.NewPtrDescribeACLsRequest()
	describe.Version = 2
	describe.ResourceType, describe.ResourcePatternType, describe.Operation = kmsg.ACLResourceTypeAny, kmsg.ACLResourcePatternTypeAny, kmsg.ACLOperationAny
	describe.PermissionType, describe.Principal = kmsg.ACLPermissionTypeAny, kmsg.StringPtr("User:"+a.user)
	if answer, err = kafkaAsk(ctx, peer, describe); err != nil {
		return err
	}
	known := 0
	for _, r := range answer.(*kmsg.DescribeACLsResponse).Resources {
		known += len(r.ACLs)
	}
	distinct := map[string]bool{}
	for _, r := range rules {
		distinct[fmt.Sprint(r.ResourceType, r.ResourcePatternType, r.ResourceName, r.Operation)] = true
	}
	if known < len(distinct) {
		return fmt.Errorf("%s knows %d of %d rules of the account", peer, known, len(distinct))
	}
	return nil
}

// kafkaUsers are the administrator and the account for the login by PLAIN.
func kafkaUsers(o *Options) string {
	all := map[string]string{o.User: o.Password}
	if o.account != nil {
		all[o.account.user] = o.account.password
	}
	var b strings.Builder
	for _, user := range slices.Sorted(maps.Keys(all)) {
		fmt.Fprintf(&b, " user_%s=\"%s\"", user, all[user])
	}
	return b.String()
}

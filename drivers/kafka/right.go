package kafka

import "sixnines/driver"

// rights are rules of a user: each is a resource's type, and what kafka-acls.sh --add --allow-principal User:NAME takes for it.
func rights(prefix string) []driver.Right {
	own := naming().Begins(prefix)
	var all []driver.Right
	add := func(kind, why string, operations ...string) {
		for _, operation := range operations {
			all = append(all, driver.Right{Name: kind, Value: "--operation " + operation + " --" + kind + " " + own + " --resource-pattern-type prefixed", For: why})
		}
	}
	add("topic", "", "Describe", "Write", "Read")
	add("topic", "making and removing topics, not with --topic", "Create", "Delete")
	add("topic", "the topic's settings in the result", "DescribeConfigs")
	add("group", "groups", "Read", "Describe")
	add("group", "removing groups, not with --group", "Delete")
	add("transactional-id", "option transactions", "Describe", "Write")
	return all
}

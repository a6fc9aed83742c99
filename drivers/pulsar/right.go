package pulsar

import "sixnines/driver"

// rights are those of a role. Pulsar grants them for a namespace, or for a topic that exists, and for no beginning of names; only
// an admin role of the tenant may make and remove topics, and it may produce and consume as well.
func rights(string) []driver.Right {
	const namespace = "the namespace (option namespace)"
	return []driver.Right{
		{Name: "admin", Value: "its tenant", For: "making and removing topics and subscriptions, not with --topic"},
		{Name: "produce", Value: namespace, For: "or the topic, with --topic"},
		{Name: "consume", Value: namespace, For: "or the topic, with --topic"},
	}
}

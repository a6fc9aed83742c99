package jetstream

import (
	"sixnines/driver"
	"sixnines/drivers/internal/natswire"
)

// rights are an account's. The server knows no beginnings of parts, and a stream's name is one part: which
// streams an account may make, look at and delete cannot be limited by a prefix. An API prefix or a
// domain takes the place of $JS.API.
func rights(prefix string) []driver.Right {
	own, inboxes := natswire.Subjects(prefix)
	all := []driver.Right{{Name: "publish", Value: own, For: "messages"}, {Name: "subscribe", Value: own}}
	if inboxes != own {
		all[1].For = "groups whose consumers are pushed to"
		all = append(all, driver.Right{Name: "subscribe", Value: inboxes, For: "answers and deliveries, where no inbox_prefix is given"})
	}
	for _, api := range [...]driver.Right{
		{Value: "$JS.API.INFO"},
		{Value: "$JS.API.STREAM.INFO.*"},
		{Value: "$JS.API.STREAM.CREATE.*", For: "making streams, not with --topic"},
		{Value: "$JS.API.STREAM.DELETE.*", For: "removing streams, not with --topic"},
		{Value: "$JS.API.CONSUMER.INFO.>", For: "groups"},
		{Value: "$JS.API.CONSUMER.CREATE.>", For: "consumers, not with --group"},
		{Value: "$JS.API.CONSUMER.DELETE.>", For: "consumers, not with --group"},
		{Value: "$JS.API.CONSUMER.MSG.NEXT.>", For: "pull consumers, as the library has most"},
		{Value: "$JS.ACK.>", For: "consumers that acknowledge"},
		{Value: "$JS.FC.>", For: "option flow_control, and ordered consumers"},
		{Value: "$JS.API.STREAM.LIST", For: "sixnines clean"},
		{Value: "$JS.API.STREAM.NAMES", For: "--topic SUBJECT, not --topic STREAM/SUBJECT"},
		{Value: "$JS.API.STREAM.MSG.GET.*", For: "reading back"},
	} {
		api.Name = "publish"
		all = append(all, api)
	}
	return all
}

// Package nullbroker is a message broker that does nothing: it gives what it
// receives over TCP at once to the subscribers of the topic. What is measured
// through it is the machine, its network stack and the tool: the floor under
// every other broker's figures.
//
// On request it does something that is known instead: it holds each message
// back for a time that a [Law] draws from a seed, and writes down when each one
// came and went ([ReadLog]). Delays overlap: a message that is held longer is
// overtaken. Or all messages pass a single server, one after the other, with
// service times by a law ([Timetable]): a queue for which theory knows the
// latencies. What is reported through it can be held against what was done.
//
// # Protocol
//
// Little-endian. A frame is a length (u32, of all that follows it), an op (u8)
// and the op's fields; the payload is the rest. The client's first frame is
// hello; nothing else is answered before. Numbers of requests are the client's
// own; the broker repeats them.
//
//	client to broker
//	'H' hello        u32 magic, u8 version
//	'T' topic        u32 request, u32 handle, name          handles count from 0
//	'S' subscribe    u32 request, u32 subscription, u16 n, n bytes group, topic
//	'U' unsubscribe  u32 request, u32 subscription
//	'P' publish      u32 handle, u16 n, n bytes reply topic, payload
//	'C' publish      u32 handle, u32 number, u16 n, n bytes reply topic, payload
//	'G' ping         u32 request
//
//	broker to client
//	'W' welcome      u32 largest payload, u64 seed, law of the delays, and of a
//	                 server, behind a line feed, that of its service times
//	'O' done         u32 request
//	'M' message      u32 subscription, u16 n, n bytes reply topic, payload
//	'A' confirmed    u32 number      the message of 'C' was handed on
//	'E' refused      words; the broker ends the connection
//
// A subscription with a group gets a share of the topic's messages, in turn
// with the others of its group; one without gets all. Topics exist while
// somebody names them. Ops are handled in order, so that a ping that was
// answered proves that everything before it was read. A confirmation comes when
// the message has been handed to the sockets of its subscribers, hence after its
// delay. Names have 1 to 255 bytes; payloads up to [MaxPayload].
package nullbroker

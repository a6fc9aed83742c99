// Package wire is what the coordinator and the agents of a fleet say to each other over
// NATS: the messages, the subjects that they go by, and how both connect.
//
// Messages are JSON in an envelope that names the protocol and the program's version
// ([Encode], [Decode]), but for records, which are frames of bytes ([Record]). Whatever
// comes from a connection is foreign until Decode has taken it: a message that is longer
// than its kind may be is refused before it is decoded, and one that is not byte for byte what Encode
// makes of its content is refused too, so that unknown keys, keys that come twice and
// values out of their ranges never reach the code behind.
//
// Secrets are never part of a message in clear: see [Seal].
package wire

// Package resp is what the drivers of Redis share: logging in, pipelines of commands, and
// a reader of RESP, the protocol in which the server answers (version 2 of it).
//
// Everything off the path of messages is done by github.com/gomodule/redigo on
// connections that the engine has made. Messages go past it: their frames are
// made and read here, because redigo boxes every argument, copies every payload
// and answers one reply at a time. With the option client=library messages
// go through redigo instead, on the same connections: a link makes them, logs in and
// tells of their loss either way. What redigo makes impossible is among the warnings of
// Session.Semantics: it does not tell what was written of that which is not answered when
// a connection is lost.
package resp

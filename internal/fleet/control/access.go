package control

import (
	"crypto/subtle"
	"encoding/base64"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go/micro"

	"sixnines/internal/fleet/wire"
)

// access lets clients in: a coordinator by its token, which may do everything, and an agent by the token of agents and
// a signature, which may speak as itself alone. It implements [server.Authentication].
type access struct {
	token, join string
}

// Check implements [server.Authentication].
func (a *access) Check(c server.ClientAuthentication) bool {
	given := c.GetOpts()
	if same(given.Token, a.token) {
		return true
	}
	if same(given.Token, a.join) {
		signature, err := base64.RawURLEncoding.DecodeString(given.Sig)
		if id, ok := wire.Proven(given.Nkey, c.GetNonce(), signature); err == nil && ok {
			c.RegisterUser(&server.User{Username: id, Permissions: permissions(id)})
			return true
		}
	}
	return false
}

func same(given, secret string) bool {
	return subtle.ConstantTimeCompare([]byte(given), []byte(secret)) == 1
}

// permissions are those of an agent. It says what it is, where its run is and what it recorded, in nobody else's name;
// it is asked in its own and hears which runs have a coordinator. Of streams it asks for those of runs alone, and removes
// none.
func permissions(id string) *server.Permissions {
	const anyRun = "*"
	search, _ := micro.ControlSubject(micro.InfoVerb, wire.Service, "") // its error is that of another verb
	return &server.Permissions{
		Publish: &server.SubjectPermission{Allow: []string{
			search, wire.StatusSubject(anyRun, id), wire.RecordSubject(anyRun, id),
			"$JS.API.STREAM.INFO.*", "$JS.API.DIRECT.GET.*." + wire.RecordSubject(anyRun, id),
		}},
		Subscribe: &server.SubjectPermission{Allow: []string{
			micro.APIPrefix + ".>", wire.InboxPrefix(id) + ".>", wire.PulseSubject(anyRun), wire.RequestSubject(id, anyRequest),
		}},
		Response: &server.ResponsePermission{MaxMsgs: 1, Expires: server.DEFAULT_ALLOW_RESPONSE_EXPIRATION},
	}
}

// anyRequest is the last part of a subject that stands for every request.
const anyRequest wire.Request = "*"

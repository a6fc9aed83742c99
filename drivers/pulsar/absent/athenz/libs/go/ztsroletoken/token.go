// Package ztsroletoken takes the place of Athenz's tokens of roles, which the Pulsar driver
// does not offer.
package ztsroletoken

import (
	"time"

	"github.com/AthenZ/athenz/libs/go/zmssvctoken"
)

// RoleToken is a token of a role.
type RoleToken interface {
	RoleTokenValue() (string, error)
	StartPrefetcher() error
	StopPrefetcher() error
}

// RoleTokenOptions say how a token is fetched.
type RoleTokenOptions struct {
	BaseZTSURL, ProxyURL                   string
	MinExpire, MaxExpire, PrefetchInterval time.Duration
	AuthHeader                             string
	CACert                                 []byte
}

// NewRoleToken returns a token whose methods return [zmssvctoken.ErrLeftOut].
func NewRoleToken(zmssvctoken.Token, string, RoleTokenOptions) RoleToken { return absent{} }

// NewRoleTokenFromCert is like [NewRoleToken].
func NewRoleTokenFromCert(certFile, keyFile, domain string, o RoleTokenOptions) RoleToken {
	return absent{}
}

type absent struct{}

func (absent) RoleTokenValue() (string, error) { return "", zmssvctoken.ErrLeftOut }
func (absent) StartPrefetcher() error          { return zmssvctoken.ErrLeftOut }
func (absent) StopPrefetcher() error           { return zmssvctoken.ErrLeftOut }

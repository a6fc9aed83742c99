// Package zmssvctoken takes the place of Athenz's tokens of services, which the Pulsar driver
// does not offer.
package zmssvctoken

import "errors"

// ErrLeftOut says that Athenz is not linked.
var ErrLeftOut = errors.New("Sixnines is built without Athenz")

// Token is a token of a service.
type Token interface{ Value() (string, error) }

// TokenBuilder makes tokens.
type TokenBuilder interface{ Token() Token }

// NewTokenBuilder returns [ErrLeftOut].
func NewTokenBuilder(domain, name string, privateKeyPEM []byte, keyVersion string) (TokenBuilder, error) {
	return nil, ErrLeftOut
}

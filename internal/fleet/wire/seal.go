package wire

import (
	"encoding/json"
	"fmt"
	"regexp"

	"github.com/nats-io/nkeys"
)

// MaxValues is how many values [Seal] takes.
const MaxValues = 256

var variableName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]{0,127}$`)

// NewCurve makes a pair of keys for [Seal] and [Open].
func NewCurve() (pair nkeys.KeyPair, public string, err error) {
	if pair, err = nkeys.CreateCurveKeys(); err != nil {
		return nil, "", err
	}
	public, err = pair.PublicKey()
	return pair, public, err
}

// curveKeyLength is how many characters a public key for [Seal] and [Open] has: 35 bytes in base32.
const curveKeyLength = 56

// checkCurveKey refuses what is no public key. nkeys decodes it into a buffer of 35 bytes without looking at the
// length, and panics where the text is longer.
func checkCurveKey(public string) error {
	if len(public) != curveKeyLength || !nkeys.IsValidPublicCurveKey(public) {
		return fmt.Errorf("%w: %.80q is not the public key of a curve", ErrMalformed, public)
	}
	return nil
}

// Seal encrypts the values of variables, by their names, for the agent with the public key. Only that can open
// them: the server of the control plane, its streams and its logs cannot.
func Seal(sender nkeys.KeyPair, recipient string, values map[string]string) ([]byte, error) {
	if err := checkValues(values); err != nil {
		return nil, err
	}
	if err := checkCurveKey(recipient); err != nil {
		return nil, err
	}
	text, err := json.Marshal(values)
	if err != nil {
		return nil, err
	}
	sealed, err := sender.Seal(text, recipient)
	switch {
	case err != nil:
		return nil, fmt.Errorf("seal the values of variables: %w", err)
	case len(sealed) > MaxSealed:
		return nil, fmt.Errorf("the values of variables have %d bytes; at most %d", len(sealed), MaxSealed)
	}
	return sealed, nil
}

// Open decrypts what [Seal] made. Errors show nothing of it, and wrap [ErrMalformed].
func Open(own nkeys.KeyPair, sender string, sealed []byte) (map[string]string, error) {
	if len(sealed) > MaxSealed {
		return nil, fmt.Errorf("%w: %d bytes of sealed values", ErrMalformed, len(sealed))
	}
	if err := checkCurveKey(sender); err != nil {
		return nil, err
	}
	text, err := own.Open(sealed, sender)
	if err != nil {
		return nil, fmt.Errorf("%w: sealed values that this agent cannot open: %w", ErrMalformed, err)
	}
	var values map[string]string
	if json.Unmarshal(text, &values) != nil { // its error may show a value
		return nil, fmt.Errorf("%w: sealed values that are not names with values", ErrMalformed)
	}
	if err := checkValues(values); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrMalformed, err)
	}
	return values, nil
}

func checkValues(values map[string]string) error {
	if len(values) > MaxValues {
		return fmt.Errorf("values of %d variables; at most %d", len(values), MaxValues)
	}
	for name := range values {
		if !variableName.MatchString(name) {
			return fmt.Errorf("a variable is called %.80q", name)
		}
	}
	return nil
}

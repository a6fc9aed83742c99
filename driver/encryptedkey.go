package driver

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/des"
	"crypto/pbkdf2"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"encoding/pem"
	"errors"
	"fmt"
	"hash"
	"os"
)

// How private keys are encrypted: PKCS #8 (RFC 5958) by PBES2 (RFC 8018), which openssl writes since 1.0, with a cipher in
// CBC mode whose parameter is its initialisation vector.
type (
	encryptedKeyInfo struct {
		Algorithm pkix.AlgorithmIdentifier
		Data      []byte
	}
	pbes2 struct{ Derivation, Cipher pkix.AlgorithmIdentifier }
	kdf2  struct {
		Salt       []byte
		Iterations int
		KeyLength  int                      `asn1:"optional"`
		Function   pkix.AlgorithmIdentifier `asn1:"optional"`
	}
)

// Object identifiers, as texts.
const (
	oidPBES2  = "1.2.840.113549.1.5.13"
	oidPBKDF2 = "1.2.840.113549.1.5.12"
	oidSHA1   = "1.2.840.113549.2.7" // HMAC with it, which is the default
	oidSHA256 = "1.2.840.113549.2.9"
	oidSHA384 = "1.2.840.113549.2.10"
	oidSHA512 = "1.2.840.113549.2.11"
	oidAES128 = "2.16.840.1.101.3.4.1.2"
	oidAES192 = "2.16.840.1.101.3.4.1.22"
	oidAES256 = "2.16.840.1.101.3.4.1.42"
	oidDES3   = "1.2.840.113549.3.7"
)

// mostIterations is more than any program uses: a file that says more is broken.
const mostIterations = 1 << 22

var (
	errWrongPassword = errors.New("the password does not open it")
	errOtherCipher   = errors.New("its encryption is another than PBES2 with PBKDF2 and AES or triple DES, which openssl pkcs8 -topk8 writes")
	errDamaged       = errors.New("its encryption cannot be read: the file may be damaged")
)

// isEncrypted reports whether only a password opens the private key in a PEM block.
func isEncrypted(block *pem.Block) bool {
	return block.Type == "ENCRYPTED PRIVATE KEY" || block.Headers["DEK-Info"] != ""
}

// readKey returns the PEM text of a key file, in which keys that the password opens are not encrypted. encrypted says that
// one is; the error is then of the first.
func readKey(file, password string) (text []byte, encrypted bool, err error) {
	text, err = os.ReadFile(file)
	if err != nil {
		return nil, false, err
	}
	var open []byte
	for block, rest := pem.Decode(text); block != nil; block, rest = pem.Decode(rest) {
		if isEncrypted(block) {
			encrypted = true
			if block, err = decrypted(block, password); err != nil {
				return nil, true, err
			}
		}
		open = append(open, pem.EncodeToMemory(block)...)
	}
	if !encrypted {
		return text, false, nil
	}
	return open, true, nil
}

// decrypted returns the block with its key in plain.
func decrypted(block *pem.Block, password string) (*pem.Block, error) {
	if block.Type == "ENCRYPTED PRIVATE KEY" {
		der, err := decryptPKCS8(block.Bytes, password)
		return &pem.Block{Type: "PRIVATE KEY", Bytes: der}, err
	}
	//lint:ignore SA1019 files of this kind exist, and here nobody can try passwords on them
	der, err := x509.DecryptPEMBlock(block, []byte(password))
	if errors.Is(err, x509.IncorrectPasswordError) {
		err = errWrongPassword
	} else if err != nil {
		err = fmt.Errorf("%w: %w", errDamaged, err)
	}
	return &pem.Block{Type: block.Type, Bytes: der}, err
}

// decryptPKCS8 returns a private key in the form of PKCS #8.
func decryptPKCS8(der []byte, password string) ([]byte, error) {
	var info encryptedKeyInfo
	if rest, err := asn1.Unmarshal(der, &info); err != nil || len(rest) > 0 {
		return nil, errDamaged
	}
	if info.Algorithm.Algorithm.String() != oidPBES2 {
		return nil, errOtherCipher
	}
	var scheme pbes2
	if err := parameters(info.Algorithm, &scheme); err != nil {
		return nil, err
	}
	if scheme.Derivation.Algorithm.String() != oidPBKDF2 {
		return nil, errOtherCipher
	}
	var derivation kdf2
	if err := parameters(scheme.Derivation, &derivation); err != nil {
		return nil, err
	}
	if derivation.Iterations < 1 || derivation.Iterations > mostIterations {
		return nil, errDamaged
	}
	var vector []byte
	digest, size, of := digestOf(derivation.Function), keySize(scheme.Cipher), aes.NewCipher
	if digest == nil || size == 0 {
		return nil, errOtherCipher
	}
	if scheme.Cipher.Algorithm.String() == oidDES3 {
		of = des.NewTripleDESCipher
	}
	if err := parameters(scheme.Cipher, &vector); err != nil {
		return nil, err
	}
	key, err := pbkdf2.Key(digest, password, derivation.Salt, derivation.Iterations, size)
	if err != nil {
		return nil, err
	}
	block, err := of(key)
	if err != nil {
		return nil, err
	}
	return decryptCBC(block, vector, info.Data)
}

// parameters reads those of an algorithm.
func parameters(a pkix.AlgorithmIdentifier, into any) error {
	if rest, err := asn1.Unmarshal(a.Parameters.FullBytes, into); err != nil || len(rest) > 0 {
		return errDamaged
	}
	return nil
}

// decryptCBC decrypts what was padded as in RFC 8018, appendix B.2: with a wrong password the padding is wrong, or what comes
// out is no key.
func decryptCBC(block cipher.Block, vector, data []byte) ([]byte, error) {
	size := block.BlockSize()
	if len(vector) != size || len(data) == 0 || len(data)%size != 0 {
		return nil, errDamaged
	}
	plain := make([]byte, len(data))
	cipher.NewCBCDecrypter(block, vector).CryptBlocks(plain, data)
	padding := int(plain[len(plain)-1])
	if padding < 1 || padding > size {
		return nil, errWrongPassword
	}
	for _, b := range plain[len(plain)-padding:] {
		if int(b) != padding {
			return nil, errWrongPassword
		}
	}
	plain = plain[:len(plain)-padding]
	if _, err := x509.ParsePKCS8PrivateKey(plain); err != nil {
		return nil, errWrongPassword
	}
	return plain, nil
}

// digestOf returns the hash of a pseudo-random function; nil: it is another one.
func digestOf(function pkix.AlgorithmIdentifier) func() hash.Hash {
	if function.Algorithm == nil {
		return sha1.New
	}
	switch function.Algorithm.String() {
	case oidSHA1:
		return sha1.New
	case oidSHA256:
		return sha256.New
	case oidSHA384:
		return sha512.New384
	case oidSHA512:
		return sha512.New
	}
	return nil
}

// keySize returns the size of a cipher's key in bytes; 0: it is another one.
func keySize(cipher pkix.AlgorithmIdentifier) int {
	switch cipher.Algorithm.String() {
	case oidAES128:
		return 16
	case oidAES192, oidDES3:
		return 24
	case oidAES256:
		return 32
	}
	return 0
}

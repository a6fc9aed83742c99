package brokers

import (
	"cmp"
	"crypto/tls"
	"fmt"
)

// encryption is how servers of Redis that replicate, and their Sentinels, talk with each other and with clients.
type encryption struct {
	settings map[string]string // of each process
	port     string            // name of the setting of its listener
	scheme   string            // of the URL of Sentinels
	client   *tls.Config       // to ask Sentinels; nil: plain
}

// encryptedReplicas returns what the options ask for. Replicas and Sentinels are clients of the master and of each
// other, and verify each other: they need the authority of the server's certificate. They show a
// certificate of their own, since that of a server need not be one for clients.
func encryptedReplicas(o *Options) (encryption, error) {
	if o.TLS == nil {
		return encryption{port: "port", scheme: "redis+sentinel://"}, nil
	}
	issuer := cmp.Or(o.TLS.Authority, o.TLS.CA)
	if issuer == "" {
		return encryption{}, fmt.Errorf("several nodes verify each other, and so do Sentinels: they need the authority of the server's certificate")
	}
	cert, key, trusted, err := ownCertificate(o.Dir, issuer)
	if err != nil {
		return encryption{}, err
	}
	own, err := tls.LoadX509KeyPair(cert, key)
	if err != nil {
		return encryption{}, err
	}
	clients := "yes"
	if o.TLS.CA == "" {
		clients = "no"
	}
	return encryption{port: "tls-port", scheme: "rediss+sentinel://", settings: map[string]string{
		"port": "0", "tls-replication": "yes", "tls-auth-clients": clients, "tls-ca-cert-file": redisQuote(trusted),
		"tls-cert-file": redisQuote(o.TLS.Cert), "tls-key-file": redisQuote(o.TLS.Key),
		"tls-client-cert-file": redisQuote(cert), "tls-client-key-file": redisQuote(key),
	}, client: &tls.Config{InsecureSkipVerify: true, Certificates: []tls.Certificate{own}}}, nil // the Sentinels are ours
}

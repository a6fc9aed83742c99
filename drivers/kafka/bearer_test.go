package kafka_test

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"
)

// unsigned returns a token that a broker without a key for signatures accepts, until so long from now.
func unsigned(subject string, lasts time.Duration) string {
	part := func(text string) string { return base64.RawURLEncoding.EncodeToString([]byte(text)) }
	at := time.Now().Add(-2 * time.Hour).Unix()
	return part(`{"alg":"none"}`) + "." + part(fmt.Sprintf(`{"sub":%q,"iat":%d,"exp":%d}`, subject, at, time.Now().Add(lasts).Unix())) + "."
}

// tokenService gives such tokens to the client ada, by client credentials.
func tokenService(t *testing.T) string {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		id, secret, _ := r.BasicAuth()
		if r.Method != http.MethodPost || r.FormValue("grant_type") != "client_credentials" || id != "ada" || secret != "lovelace" {
			w.WriteHeader(http.StatusUnauthorized)
			fmt.Fprint(w, `{"error":"invalid_client","error_description":"the client is not known"}`)
			return
		}
		fmt.Fprintf(w, `{"access_token":%q,"token_type":"Bearer","expires_in":3600}`, unsigned(id, time.Hour))
	}))
	t.Cleanup(s.Close)
	return s.URL + "/token"
}

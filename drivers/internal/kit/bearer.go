package kit

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"sync"
	"time"

	"sixnines/driver"
)

// BearerOptions are where tokens come from. The options of drivers embed them, see driver.DecodeOptions.
type BearerOptions struct {
	TokenFile     string `option:"token_file" names:"file" doc:"a file with the token to log in with, which is read for each login"`
	TokenURL      string `option:"token_url" names:"address" doc:"HTTP address of the service that gives tokens to log in with, by OAuth's client credentials; a token is used for four fifths of its life"`
	TokenScope    string `option:"token_scope" doc:"token_url: the scope to ask for"`
	TokenAudience string `option:"token_audience" doc:"token_url: whom the token is for, where the service wants to know"`
	TokenCA       string `option:"token_ca" names:"file" doc:"token_url: PEM file of the authority of its certificate; absent: the system's"`
}

// Given reports whether any of them is.
func (o *BearerOptions) Given() bool { return *o != (BearerOptions{}) }

// Bearer returns what gives tokens to the client with the secret, and waits for the service for so long.
func (o *BearerOptions) Bearer(client, secret string, wait time.Duration) *Bearer {
	return &Bearer{from: *o, client: client, secret: secret, wait: wait}
}

// Bearer gives tokens that prove who a client is: from a file that somebody else renews, or by OAuth's client credentials
// (RFC 6749, section 4.4) from a service. It is safe for concurrent use.
type Bearer struct {
	from           BearerOptions
	client, secret string
	wait           time.Duration

	mu    sync.Mutex
	token string
	renew time.Time // from when on token is not used any more
}

// renewFrom is the part of a token's life after which another one is asked for.
const renewFrom = 0.8

// Check says which of the options contradict each other; nil: none do. id and key name those of the client and its secret.
func (b *Bearer) Check(e *Errors, id, key string) error {
	switch {
	case b.from.TokenFile != "" && b.from.TokenURL != "":
		return e.Option("token_file", "token_url gives tokens, too; leave one of them out")
	case b.from.TokenFile == "" && b.from.TokenURL == "":
		return e.Option("token_url", "a token comes from there, or from token_file; give one of them")
	case b.from.TokenFile != "":
		return nil
	case b.client == "" || b.secret == "":
		return e.Option("token_url", "it needs "+id+", the client's id, and "+key+", its secret")
	}
	u, err := driver.ParseURL(b.from.TokenURL)
	switch {
	case err != nil || u.Host == "":
		return e.Option("token_url", "this is no address; want one such as https://id.example.org/oauth2/token")
	case u.Scheme == "http" && !loopback(u.Hostname()), u.Scheme != "http" && u.Scheme != "https":
		return e.Option("token_url", "the client's secret would go there unencrypted; give an https:// address")
	}
	return nil
}

func loopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// Token returns a token for a login. Errors are of class driver.ErrUnauthorized where the service refuses the client, or the
// file has no token, and of class driver.ErrNotConnected where the service does not answer.
func (b *Bearer) Token(ctx context.Context) (string, error) {
	if b.from.TokenFile != "" {
		text, err := os.ReadFile(b.from.TokenFile)
		if err != nil {
			return "", fmt.Errorf("%w: the token: %w", driver.ErrUnauthorized, err)
		}
		token := strings.TrimSpace(string(text))
		if token == "" {
			return "", fmt.Errorf("%w: the token: %s is empty", driver.ErrUnauthorized, b.from.TokenFile)
		}
		return token, nil
	}
	b.mu.Lock() // also while it is asked for: several logins at a time want one token
	defer b.mu.Unlock()
	if b.token != "" && time.Now().Before(b.renew) {
		return b.token, nil
	}
	return b.ask(ctx)
}

// ask asks the service for a token. mu is held.
func (b *Bearer) ask(ctx context.Context) (string, error) {
	fail := func(class, err error) (string, error) {
		return "", fmt.Errorf("%w: ask %s for a token: %w", class, b.host(), err)
	}
	ctx, cancel := context.WithTimeout(ctx, b.wait)
	defer cancel()
	form := url.Values{"grant_type": {"client_credentials"}}
	for name, value := range map[string]string{"scope": b.from.TokenScope, "audience": b.from.TokenAudience} {
		if value != "" {
			form.Set(name, value)
		}
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, b.from.TokenURL, strings.NewReader(form.Encode()))
	if err != nil {
		return fail(driver.ErrNotConnected, err)
	}
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	request.Header.Set("Accept", "application/json")
	request.SetBasicAuth(url.QueryEscape(b.client), url.QueryEscape(b.secret))
	config, err := (&driver.TLS{CA: b.from.TokenCA}).Config("")
	if err != nil {
		return fail(driver.ErrNotConnected, err)
	}
	client := http.Client{Transport: &http.Transport{TLSClientConfig: config, DisableKeepAlives: true, Proxy: http.ProxyFromEnvironment},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }} // the secret goes to nobody else
	asked := time.Now()
	response, err := client.Do(request)
	if err != nil {
		return fail(driver.ErrNotConnected, err)
	}
	defer response.Body.Close()
	var answer struct {
		Token       string `json:"access_token"`
		Expires     int64  `json:"expires_in"`
		Error       string `json:"error"`
		Description string `json:"error_description"`
	}
	wrong := json.NewDecoder(http.MaxBytesReader(nil, response.Body, answerMost)).Decode(&answer)
	switch {
	case answer.Error != "":
		return fail(driver.ErrUnauthorized, fmt.Errorf("it says %s", cmp.Or(answer.Description, answer.Error)))
	case response.StatusCode != http.StatusOK:
		return fail(driver.ErrUnauthorized, fmt.Errorf("it says %s", response.Status))
	case wrong != nil || answer.Token == "":
		return fail(driver.ErrUnauthorized, fmt.Errorf("its answer has no token; is it an OAuth token endpoint?"))
	}
	b.token, b.renew = answer.Token, asked
	if answer.Expires > 0 {
		b.renew = asked.Add(time.Duration(renewFrom * float64(answer.Expires) * float64(time.Second)))
	}
	return b.token, nil
}

// host names the service without what may be secret in its address.
func (b *Bearer) host() string {
	if u, err := driver.ParseURL(b.from.TokenURL); err == nil {
		return u.Host
	}
	return "the token service"
}

package scenario

import (
	"net/url"
	"strings"

	"sixnines/internal/secret"
)

// Secrets returns the texts that no output may contain: the password of the client's key, the values of
// options for which isSecret returns true, the values of settings whose names mark them as secret, and from
// the address the login and the parameters that have the name of a secret option, each as
// it is written there and decoded.
func (s *Scenario) Secrets(isSecret func(option string) bool) []string {
	var all []string
	add := func(x any) {
		if text, ok := x.(string); ok && text != "" {
			all = append(all, text)
		}
	}
	options := []map[string]any{s.Target.Options}
	for _, w := range s.Workloads {
		options = append(options, w.Options)
	}
	for _, o := range options {
		for name, value := range o {
			if isSecret != nil && isSecret(name) {
				add(value)
			}
		}
	}
	for name, value := range s.Target.Settings {
		if secret.Setting(name) {
			add(value)
		}
	}
	if t := s.Target.TLS; t != nil {
		add(t.KeyPassword)
	}
	for _, u := range secret.Logins(s.Target.URL) {
		login := s.Target.URL[u[0]:u[1]]
		_, password, has := strings.Cut(login, ":")
		if !has {
			password = login // a token, perhaps
		}
		for _, part := range secret.Fragments(password) {
			add(part)
			if plain, err := url.PathUnescape(part); err == nil && plain != part {
				add(plain)
			}
		}
	}
	for _, m := range secret.Parameter.FindAllStringSubmatch(s.Target.URL, -1) {
		if isSecret != nil && isSecret(m[2]) {
			add(m[3])
		}
	}
	return all
}

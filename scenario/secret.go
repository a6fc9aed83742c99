package scenario

import (
	"cmp"
	"net/url"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Secrets returns what of the scenario must be in no output: the values of options
// that secret reports, of settings that are secret by their names, and the logins in
// the address and its parameters that are called as a secret option is, as they are
// written there and decoded.
func (s *Scenario) Secrets(secret func(option string) bool) []string {
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
			if secret != nil && secret(name) {
				add(value)
			}
		}
	}
	for name, value := range s.Target.Settings {
		if SecretSetting(name) {
			add(value)
		}
	}
	for _, u := range userinfos(s.Target.URL) {
		login := s.Target.URL[u[0]:u[1]]
		_, password, has := strings.Cut(login, ":")
		if !has {
			password = login // a token, perhaps
		}
		for _, part := range fragments(password) {
			add(part)
			if plain, err := url.PathUnescape(part); err == nil && plain != part {
				add(plain)
			}
		}
	}
	for _, m := range parameter.FindAllStringSubmatch(s.Target.URL, -1) {
		if secret != nil && secret(m[2]) {
			add(m[3])
		}
	}
	return all
}

// Conceal returns a text without the secrets in it, each as a word of its own, or
// anywhere where it has six letters or more.
func Conceal(text string, secrets []string) string {
	secrets = slices.Clone(secrets)
	slices.SortFunc(secrets, func(a, b string) int { return cmp.Compare(len(b), len(a)) }) // one may be a part of another
	for _, s := range secrets {
		var b strings.Builder
		for rest, before := text, rune(0); ; {
			i := strings.Index(rest, s)
			if i < 0 || s == "" {
				b.WriteString(rest)
				break
			}
			if i > 0 {
				before, _ = utf8.DecodeLastRuneInString(rest[:i])
			}
			after, _ := utf8.DecodeRuneInString(rest[i+len(s):])
			b.WriteString(rest[:i])
			if len(s) >= 6 || !isWord(before) && !isWord(after) {
				b.WriteString(hidden)
			} else {
				b.WriteString(s)
			}
			before, _ = utf8.DecodeLastRuneInString(s)
			rest = rest[i+len(s):]
		}
		text = b.String()
	}
	return text
}

func isWord(r rune) bool { return r != utf8.RuneError && (unicode.IsLetter(r) || unicode.IsDigit(r)) }

// Exposed names what of an override is a secret in so many words, so that whoever
// sees the command line sees it: the option, the setting or the address; empty:
// nothing is.
func (o Override) Exposed(secret func(option string) bool) string {
	key, name := o.Key, o.Key[strings.LastIndexByte(o.Key, '.')+1:]
	switch rest, isSetting := strings.CutPrefix(key, "target.settings."); {
	case key == "target.url":
		for _, u := range userinfos(o.Value) {
			if login := o.Value[u[0]:u[1]]; !onlyVariables.MatchString(login) && (strings.Contains(login, ":") || secret("token")) {
				if _, password, has := strings.Cut(login, ":"); !has || !onlyVariables.MatchString(password) {
					return "the login in the address"
				}
			}
		}
		for _, m := range parameter.FindAllStringSubmatch(o.Value, -1) {
			if secret(m[2]) && m[3] != "" && !onlyVariables.MatchString(m[3]) {
				return "the login in the address"
			}
		}
		return ""
	case isSetting && SecretSetting(rest):
		name = rest
	case isSetting || !mayRefer(key) || !secret(name):
		return ""
	}
	if o.Value == "" || refersElsewhere(o.Value) || onlyVariables.MatchString(o.Value) {
		return ""
	}
	return name
}

package scenario

import (
	"errors"
	"maps"
	"regexp"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v4"

	"sixnines/internal/secret"
	"sixnines/internal/strict"
)

// Environment looks up a variable of the environment, as [os.LookupEnv] does.
// Values of a scenario name variables:
//
//	${NAME}           the variable's value; an error if it is not set, or empty
//	${NAME:-default}  the default where it is not set, or empty
//	$${NAME}          the text ${NAME}
//
// An option of the driver may also be env:NAME or @FILE, the value of a variable or
// the text of a file, and literal:TEXT, a text that begins as one of these.
//
// A name has letters, digits and underscores; a default ends at the first brace.
// Names of keys are not looked up. A value that is only $NAME, without braces, is
// an error; as a text it is written $$NAME.
//
// What of a variable's value may be a secret is never written down: in the
// target's address, options, settings and files, and in the description,
// [Scenario.Encode] and [Scenario.MarshalJSON] write the variable and not its
// value. Everything else they write as it became, since a load is known by it.
type Environment func(name string) (value string, ok bool)

var (
	variableName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)
	// bareName is a value that is probably meant to be a variable's.
	bareName = regexp.MustCompile(`^\$+[A-Z_][A-Z0-9_]*$`)
)

// bareInAddress is the same within an address, in which a dollar sign is otherwise rare.
var bareInAddress = regexp.MustCompile(`\$[A-Z_][A-Z0-9_]*`)

// written is a value that variables gave.
type written struct {
	text  string // with the variables
	value string // what they gave
}

// replace puts the variables' values into text. each is called with what every
// variable gave.
func (env Environment) replace(text string, each func(at int, value string)) (string, error) {
	if bareName.MatchString(text) {
		if strings.HasPrefix(text, "$$") {
			return text[1:], nil
		}
		return "", wrong(quote(text)+" is no variable without braces", "write ${"+text[1:]+"}, or $"+text+" for the text")
	}
	var b strings.Builder
	for i := 0; i < len(text); {
		switch rest := text[i:]; {
		case strings.HasPrefix(rest, "$${"):
			b.WriteString("${")
			i += 3
		case strings.HasPrefix(rest, "${"):
			end := strings.IndexByte(rest, '}')
			if end < 0 {
				return "", wrong("the variable "+quote(rest)+" has no end", "write ${NAME} or ${NAME:-default}, and $${ for the text ${")
			}
			name, fallback, has := strings.Cut(rest[2:end], ":-")
			if !variableName.MatchString(name) || strings.Contains(fallback, "${") {
				return "", wrong(quote(rest[:end+1])+" is not understood", "write ${NAME} or ${NAME:-default}, and $${ for the text ${")
			}
			value := fallback
			if set, _ := env(name); set != "" || !has {
				var err error
				if value, err = env.value(name, "write ${"+name+":-default}"); err != nil {
					return "", err
				}
			}
			if each != nil {
				each(i, value)
			}
			b.WriteString(value)
			i += end + 1
		default:
			b.WriteByte(text[i])
			i++
		}
	}
	return b.String(), nil
}

// value returns the value of a variable; or is what to write otherwise.
func (env Environment) value(name, or string) (string, error) {
	value, set := env(name)
	switch {
	case set && value == "":
		return "", wrong("the environment variable "+name+" is empty", "give it a value, or "+or)
	case !set:
		return "", wrong("the environment variable "+name+" is not set", "set it, or "+or)
	case !utf8.ValidString(value):
		return "", wrong("the environment variable "+name+" is not UTF-8", "")
	}
	return value, nil
}

// expand replaces the variables of a scalar, and a reference by what it gives.
func (d *decoder) expand(n *strict.Node, key string) *strict.Node {
	delete(d.written, key)
	refers := secret.MayRefer(key) && secret.IsReference(n.Value)
	if d.env == nil || n.Kind != yaml.ScalarNode || !refers && !strings.Contains(n.Value, "$") && !(key == "target.url" && secret.IsReference(n.Value)) {
		return n
	}
	var each func(int, string)
	if key == "target.url" {
		if secret.IsReference(n.Value) {
			d.Fail(n, key, "an address is not read from elsewhere by env: and @", "write ${NAME}; a password goes into the driver's options")
			return nil
		}
		if name := bareInAddress.FindString(secret.OneVariable.ReplaceAllString(n.Value, "")); name != "" {
			if secret.InLogin(n.Value, name) { // it may be a part of the password
				d.Fail(n, key, "a $ of the login in the address begins no variable", "write ${NAME}, or %24 for the $")
				return nil
			}
			d.Fail(n, key, quote(name)+" in the address is no variable without braces", "write ${"+name[1:]+"}, or %24"+name[1:]+" for the text")
			return nil
		}
		each = func(at int, value string) {
			if secret.WithinLogin(n.Value, at) && strings.ContainsAny(value, "@/?#, ") {
				d.Fail(n, key, "a variable of the login in "+key+" has a character that ends it (@ / ? # , or a space)",
					"set it percent-encoded, or log in by the driver's options")
			}
		}
	}
	read := func() (string, error) { return d.env.replace(n.Value, each) }
	if refers {
		read = func() (string, error) { return d.env.dereference(n.Value) }
	}
	value, err := read()
	if err != nil {
		if secret.KeepsVariables(key) && !refers {
			err = withoutText(err)
		}
		d.failWith(n, key, err)
		return nil
	}
	if value == n.Value {
		return n
	}
	if secret.KeepsVariables(key) && (refers || secret.OneVariable.MatchString(n.Value)) {
		d.written[key] = written{n.Value, value}
	}
	// Its type is its key's to say; quotes were for YAML.
	return &strict.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: value, Line: n.Line, Column: n.Column}
}

// withoutText returns the error of a text that may be a secret without quoting it: such
// an error is about $ and braces. What names a variable stays as it is.
func withoutText(err error) error {
	var e *Error
	if !errors.As(err, &e) || strings.HasPrefix(e.Cause, "the environment variable ") {
		return err
	}
	return wrong("its $ begins no variable that is understood", "write ${NAME} or ${NAME:-default}, $${ for the text ${, and $$NAME for the text $NAME")
}

// escape writes a text so that it is read back as it is.
func escape(text string) string {
	if bareName.MatchString(text) {
		return "$" + text
	}
	return strings.ReplaceAll(text, "${", "$${")
}

// Redacted returns the scenario as it may be shown and written down: what variables and
// references gave (see [Environment]) is their names again, and the options that isSecret
// reports, the parameters of the address that are called as they are, settings that are
// secret by their names, and the logins in the address, are variables called SIXNINES_
// and the name, which are an error until they are set. Where those are set it can be run
// again.
func (s *Scenario) Redacted(isSecret func(option string) bool) *Scenario {
	c := s.clone()
	if c.source == nil {
		c.source = &source{at: map[string]strict.Position{}}
	}
	kept := c.source.written
	c.source.written = map[string]written{}
	// shown returns what stands for the value at key.
	shown := func(key, name, value string, hide bool) string {
		w, ok := kept[key]
		ok = ok && w.value == value
		switch {
		case !ok && !hide:
			return value
		case !hide || ok && (secret.OnlyVariables.MatchString(w.text) || secret.Elsewhere(w.text)):
			value = w.text
			if hide && !secret.Elsewhere(w.text) {
				value = secret.OneVariable.ReplaceAllString(value, "$${$1}")
			}
		default:
			value = secret.VariableOf(name)
		}
		c.source.written[key] = written{value, value}
		return value
	}
	if text, ok := kept["target.url"]; ok && text.value == c.Target.URL {
		c.Target.URL = text.text
	} else {
		c.Target.URL = escape(c.Target.URL)
	}
	c.Target.URL = secret.WithoutParameters(secret.WithoutLogins(c.Target.URL), isSecret)
	c.source.written["target.url"] = written{c.Target.URL, c.Target.URL}
	c.Description = shown("description", "", c.Description, false)
	if t := c.Target.TLS; t != nil {
		for key, file := range map[string]*string{"ca": &t.CA, "cert": &t.Cert, "key": &t.Key, "server_name": &t.ServerName} {
			*file = shown("target.tls."+key, "", *file, false)
		}
	}
	for name, value := range c.Target.Settings {
		c.Target.Settings[name] = shown("target.settings."+name, name, value, secret.Setting(name))
	}
	options := func(all map[string]any, key string) {
		for name, value := range all {
			key := strict.Join(key, name)
			if isSecret != nil && isSecret(name) {
				text, _ := value.(string)
				all[name] = shown(key, name, text, true)
				continue
			}
			all[name] = redactedOption(value, key, func(key, value string) string { return shown(key, "", value, false) })
		}
	}
	options(c.Target.Options, "target.options")
	for _, w := range c.Workloads {
		options(w.Options, strict.Join(strict.Join(workloadsKey, w.Name), "options"))
	}
	return c
}

// redactedOption returns a copy of an option's value in which each text is what
// shown makes of it.
func redactedOption(x any, key string, shown func(key, value string) string) any {
	switch x := x.(type) {
	case string:
		return shown(key, x)
	case map[string]any:
		m := maps.Clone(x)
		for name, value := range m {
			m[name] = redactedOption(value, strict.Join(key, name), shown)
		}
		return m
	case []any:
		list := make([]any, len(x))
		for i, value := range x {
			list[i] = redactedOption(value, strict.Item(key, i), shown)
		}
		return list
	}
	return x
}

// ShowSettings returns a broker's settings as they may be shown: a copy in which
// what is secret by its name is masked, and what variables gave to the scenario
// is their names again.
func (s *Scenario) ShowSettings(settings map[string]string) map[string]string {
	shown := secret.Mask(settings)
	if s.source == nil {
		return shown
	}
	for name := range shown {
		if w, ok := s.source.written["target.settings."+name]; ok && w.value == settings[name] {
			shown[name] = w.text
		}
	}
	return shown
}

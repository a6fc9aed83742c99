package scenario

import (
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
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
// A value that may be a secret is never written down: in the target's address,
// options, settings and files, and in the description, [Scenario.Encode] and
// [Scenario.MarshalJSON] write the variable and not its value. Everywhere else they
// write the value, since it determines the load.
type Environment func(name string) (value string, ok bool)

var (
	variableName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)
	// bareName matches a value that is probably meant as a variable, without braces.
	bareName = regexp.MustCompile(`^\$+[A-Z_][A-Z0-9_]*$`)
)

// bareInAddress matches the same within an address, where a dollar sign is otherwise rare.
var bareInAddress = regexp.MustCompile(`\$[A-Z_][A-Z0-9_]*`)

// written is a value that contains variables.
type written struct {
	text  string // with the names of the variables
	value string // with their values
}

// replace puts the variables' values into text. It calls each with the value of every
// variable.
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

// valueError is what is wrong with the value of a variable: it names the variable and nothing
// of the text around it.
type valueError struct{ wrong *Error }

func (e *valueError) Error() string { return e.wrong.Error() }
func (e *valueError) Unwrap() error { return e.wrong }

// value returns the value of a variable; or is the text to suggest if it is not set.
func (env Environment) value(name, or string) (string, error) {
	value, set := env(name)
	switch {
	case set && value == "":
		return "", &valueError{wrong("the environment variable "+name+" is empty", "give it a value, or "+or)}
	case !set:
		return "", &valueError{wrong("the environment variable "+name+" is not set", "set it, or "+or)}
	case !utf8.ValidString(value):
		return "", &valueError{wrong("the environment variable "+name+" is not UTF-8", "")}
	}
	return value, nil
}

// expand replaces the variables of a scalar, and a reference by its value.
func (d *decoder) expand(n *strict.Node, key string) *strict.Node {
	delete(d.written, key)
	refers := secret.MayRefer(key) && secret.IsReference(n.Value)
	if d.env == nil || n.Kind != yaml.ScalarNode || !refers && !strings.Contains(n.Value, "$") && !(key == "target.url" && secret.IsReference(n.Value)) {
		return n
	}
	var each func(int, string)
	if key == "target.url" {
		if secret.IsReference(n.Value) {
			d.Fail(n, key, "env: and @ are not read in an address", "write ${NAME}; a password goes into the driver's options")
			return nil
		}
		if name := bareInAddress.FindString(secret.OneVariable.ReplaceAllString(n.Value, "")); name != "" {
			if secret.InLogin(n.Value, name) { // it may be a part of the password
				d.Fail(n, key, "a $ in the login of the address begins no variable", "write ${NAME}, or %24 for the $")
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
	if refers && d.closed && strings.HasPrefix(n.Value, secret.File) {
		d.Fail(n, key, errFile, "send the value itself")
		return nil
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
	// The key decides the type; any quotes were for YAML.
	return &strict.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: value, Line: n.Line, Column: n.Column}
}

// withoutText returns err without a quotation of the text, which may be a secret: such an
// error is about $ and braces. An error that only names a variable stays as it is.
func withoutText(err error) error {
	if errors.As(err, new(*valueError)) {
		return err
	}
	return wrong("its $ begins no valid variable", "write ${NAME} or ${NAME:-default}, $${ for the text ${, and $$NAME for the text $NAME")
}

// escape returns a text in a form that [Environment.replace] reads back unchanged.
func escape(text string) string {
	if bareName.MatchString(text) {
		return "$" + text
	}
	return strings.ReplaceAll(text, "${", "$${")
}

// Redacted returns a copy of the scenario that may be shown and written down. Values of
// variables and references (see [Environment]) are replaced by their names. Variables with
// the name SIXNINES_ and the key's name replace the password of the client's key, the options for which isSecret returns true,
// the parameters of the address that have such a name, settings whose names mark them as
// secret, and the logins in the address. The copy can be run once these variables are set;
// until then they are an error.
func (s *Scenario) Redacted(isSecret func(option string) bool) *Scenario {
	kept := s.fromVariables()
	return s.replaced(isSecret, func(key, name, value string, hide bool) string {
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
			return value
		}
		return secret.VariableOf(name)
	}, func(url string) string {
		if w, ok := kept["target.url"]; ok && w.value == url {
			url = w.text
		} else {
			url = escape(url)
		}
		return secret.WithoutParameters(secret.WithoutLogins(url), isSecret)
	})
}

// Portable returns the normalised scenario as YAML that another machine can read without this one's variables and
// files, and that holds no secret: each value that came from one, or is a secret as in [Scenario.Redacted], is a
// variable in it. values has their values.
func (s *Scenario) Portable(isSecret func(option string) bool) (text []byte, values map[string]string, err error) {
	kept := s.fromVariables()
	values = map[string]string{}
	variable := func(value string) string {
		if value == "" { // which a variable cannot have
			return ""
		}
		name := fmt.Sprintf("SIXNINES_PLAN_%d", len(values)+1)
		values[name] = value
		return "${" + name + "}"
	}
	text, err = s.replaced(isSecret, func(key, _, value string, hide bool) string {
		if w, ok := kept[key]; !hide && (!ok || w.value != value) {
			return value
		}
		return variable(value)
	}, func(url string) string {
		if w, ok := kept["target.url"]; ok && w.value == url || secret.WithoutParameters(secret.WithoutLogins(url), isSecret) != url {
			return variable(url)
		}
		return escape(url)
	}).Encode()
	return text, values, err
}

// fromVariables returns the values that came from variables, by their keys.
func (s *Scenario) fromVariables() map[string]written {
	if s.source == nil {
		return nil
	}
	return s.source.written
}

// replaced returns a copy in which shown and address have replaced each text that may be a secret or the name of something on this
// machine. What they return is written as it is. hide says that a value is a secret, and name what it is called.
func (s *Scenario) replaced(isSecret func(option string) bool, shown func(key, name, value string, hide bool) string, address func(url string) string) *Scenario {
	c := s.clone()
	if c.source == nil {
		c.source = &source{at: map[string]strict.Position{}}
	}
	c.source.written = map[string]written{}
	put := func(key, name, value string, hide bool) string {
		text := shown(key, name, value, hide)
		if text != value || hide {
			c.source.written[key] = written{text, text}
		}
		return text
	}
	c.Target.URL = address(c.Target.URL)
	c.source.written["target.url"] = written{c.Target.URL, c.Target.URL}
	c.Description = put("description", "", c.Description, false)
	if t := c.Target.TLS; t != nil {
		for _, f := range []struct {
			key  string
			file *string
		}{{"ca", &t.CA}, {"cert", &t.Cert}, {"key", &t.Key}, {"server_name", &t.ServerName}} {
			*f.file = put("target.tls."+f.key, "", *f.file, false)
		}
		if t.KeyPassword != "" {
			t.KeyPassword = put(secret.KeyPassword, "tls_key_password", t.KeyPassword, true)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(c.Target.Settings)) {
		c.Target.Settings[name] = put("target.settings."+name, name, c.Target.Settings[name], secret.Setting(name))
	}
	options := func(all map[string]any, key string) {
		for _, name := range slices.Sorted(maps.Keys(all)) {
			key := strict.Join(key, name)
			if isSecret != nil && isSecret(name) {
				text, _ := all[name].(string)
				all[name] = put(key, name, text, true)
				continue
			}
			all[name] = redactedOption(all[name], key, func(key, value string) string { return put(key, "", value, false) })
		}
	}
	options(c.Target.Options, "target.options")
	for _, w := range c.Workloads {
		options(w.Options, strict.Join(strict.Join(workloadsKey, w.Name), "options"))
	}
	return c
}

// redactedOption returns a copy of an option's value in which shown has replaced each text.
func redactedOption(x any, key string, shown func(key, value string) string) any {
	switch x := x.(type) {
	case string:
		return shown(key, x)
	case map[string]any:
		m := maps.Clone(x)
		for _, name := range slices.Sorted(maps.Keys(m)) {
			m[name] = redactedOption(m[name], strict.Join(key, name), shown)
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

// ShowSettings returns a copy of a broker's settings that may be shown: settings whose
// names mark them as secret are masked, and values that came from variables of the scenario
// are replaced by the variables' names.
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

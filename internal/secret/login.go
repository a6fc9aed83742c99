package secret

import (
	"regexp"
	"strings"
)

// Logins returns where in a list of addresses the logins stand, also where the
// address is none because a login has a reserved character in it: up to the last @ of
// each, and all of what has no @ and is no host with a port, as a login is whose comma
// was taken for the list's.
func Logins(list string) [][2]int {
	// A default may hold any character.
	plain := []byte(list)
	for _, v := range OneVariable.FindAllStringIndex(list, -1) {
		for i := v[0]; i < v[1]; i++ {
			plain[i] = '0'
		}
	}
	var all [][2]int
	at, before := 0, [2]int{-1, -1} // where the address before this one stands, if it has no login
	for server := range strings.SplitSeq(string(plain), ",") {
		start, hasScheme := 0, false
		if i := strings.Index(server, "://"); i >= 0 {
			start, hasScheme = i+len("://"), true
		}
		start += len(server[start:]) - len(strings.TrimLeft(server[start:], " "))
		authority, end := server[start:], len(server)-start
		if i := strings.IndexAny(authority, "/?#"); i >= 0 {
			authority, end = authority[:i], i
		}
		found := [2]int{at + start, at + start + end}
		last := strings.LastIndexByte(server[start:], '@')
		switch {
		case last >= 0:
			found[1] = at + start + last
			if !hasScheme && before[0] >= 0 && !strings.Contains(server[start:start+last], ":") {
				found[0] = before[0] // the end of a login with a comma, perhaps
			}
			before = [2]int{-1, -1}
			all = append(all, found)
		case !hostAndPort.MatchString(strings.TrimRight(authority, " ")):
			before = [2]int{-1, -1}
			all = append(all, found)
		default:
			before = found
		}
		at += len(server) + 1
	}
	return all
}

// InLogin reports whether a text is a part of a login in a list of addresses, and neither
// a whole user nor a whole password.
func InLogin(list, text string) bool {
	for _, u := range Logins(list) {
		user, password, _ := strings.Cut(list[u[0]:u[1]], ":")
		for _, part := range []string{user, password} {
			if part != text && strings.Contains(part, text) {
				return true
			}
		}
	}
	return false
}

// hostAndPort is what stands in an address without a login, whose scheme may have no
// host.
var hostAndPort = regexp.MustCompile(`^(\[[^\]]*\]|[\pL\pN._%*-]*)(:([0-9]*|\*))?$`)

// Fragments returns a password and the parts that reserved characters make of it: what
// quotes an address that cannot be read may quote one of them.
func Fragments(password string) []string {
	all := []string{password}
	for _, part := range strings.FieldsFunc(password, func(r rune) bool { return strings.ContainsRune("@:/?#,&;= ", r) }) {
		if len(part) > 2 && part != password {
			all = append(all, part)
		}
	}
	return all
}

// WithoutLogins hides the logins in a list of addresses, in which variables are
// still such.
func WithoutLogins(list string) string {
	var b strings.Builder
	from := 0
	for _, u := range Logins(list) {
		b.WriteString(list[from:u[0]])
		if login := list[u[0]:u[1]]; OnlyVariables.MatchString(login) {
			b.WriteString(OneVariable.ReplaceAllString(login, "$${$1}"))
		} else {
			b.WriteString(VariableOf("login"))
		}
		from = u[1]
	}
	return b.String() + list[from:]
}

// Parameter is one of an address.
var Parameter = regexp.MustCompile(`([?&;])([A-Za-z0-9_.-]+)=([^&;#, ]*)`)

// WithoutParameters hides what parameters of addresses hold that are called as a secret
// option is.
func WithoutParameters(list string, secret func(option string) bool) string {
	return Parameter.ReplaceAllStringFunc(list, func(p string) string {
		m := Parameter.FindStringSubmatch(p)
		switch {
		case secret == nil || !secret(m[2]) || m[3] == "":
			return p
		case OnlyVariables.MatchString(m[3]):
			return m[1] + m[2] + "=" + OneVariable.ReplaceAllString(m[3], "$${$1}")
		}
		return m[1] + m[2] + "=" + VariableOf(m[2])
	})
}

// WithinLogin reports whether the byte at a place in a list of addresses belongs
// to a login.
func WithinLogin(list string, at int) bool {
	for _, u := range Logins(list) {
		if u[0] <= at && at < u[1] {
			return true
		}
	}
	return false
}

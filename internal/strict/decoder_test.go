package strict

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
)

// part and whole are a format with one field of each kind.
type part struct {
	Word  string  `yaml:"word" doc:"a word" enum:"a,b"`
	Share float64 `yaml:"share" doc:"a share" max:"1"`
}

type whole struct {
	Name   string             `yaml:"name" doc:"a name" pattern:"[a-z]+"`
	Count  int                `yaml:"count" other:"number" doc:"how many" min:"1" max:"9"`
	Big    uint64             `yaml:"big"`
	On     bool               `yaml:"on"`
	Part   part               `yaml:"part"`
	Behind *part              `yaml:"behind"`
	Many   []part             `yaml:"many"`
	Words  []string           `yaml:"words"`
	By     map[string]float64 `yaml:"by"`
	Least  *float64           `yaml:"least"`
}

func decode(text string) (whole, []string) {
	var w whole
	var all []string
	root, fault := Document{Name: "x.yaml", Kind: "thing", Most: 1000, Empty: "write {}"}.Root([]byte(text))
	if fault != nil {
		return w, []string{fmt.Sprintf("%s:%d:%d: %s (%s)", fault.File, fault.Line, fault.Column, fault.Cause, fault.Hint)}
	}
	d := Decoder{File: "x.yaml", Whole: "the thing", Root: reflect.TypeFor[whole]()}
	d.Decode(root, reflect.ValueOf(&w).Elem(), "")
	Sort(d.Errors)
	for _, e := range d.Errors {
		all = append(all, fmt.Sprintf("%s:%d:%d: %s (%s)", e.File, e.Line, e.Column, e.Cause, e.Hint))
	}
	return w, all
}

func TestDecode(t *testing.T) {
	got, errs := decode("name: abc\nnumber: 7\nbig: 18446744073709551615\non: true\npart: {word: a, share: 0.5}\nbehind: {word: b}\nmany: [{word: a}, {}]\nwords: [x, 1.50]\nby: {a: 1, b: 2.5}\nleast: 0.25\n")
	least := 0.25
	want := whole{"abc", 7, 18446744073709551615, true, part{"a", 0.5}, &part{Word: "b"}, []part{{Word: "a"}, {}}, []string{"x", "1.50"}, map[string]float64{"a": 1, "b": 2.5}, &least}
	if errs != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, %q", got, errs)
	}
}

// Every error has its place, and all of a text are found at once.
func TestDecodeRefuses(t *testing.T) {
	for text, want := range map[string][]string{
		"naem: a\n":                                {`x.yaml:1:1: unknown key "naem" (did you mean name?)`},
		"many:\n  - {wrod: a}\n  - {share: 2}\n":   {`x.yaml:2:6: unknown key "wrod" in many[0] (did you mean word?)`, `x.yaml:3:13: 2 is too large for share (at most 1)`},
		"share: 1\n":                               {`x.yaml:1:1: unknown key "share" (did you mean part.share or behind.share?)`},
		"count: 1\nnumber: 2\n":                    {`x.yaml:2:1: duplicate key "number": it is another name of count (it is first given in line 1; remove one of them)`},
		"count: 0\nname: A\npart: {word: c}\n":     {`x.yaml:1:8: 0 is too small for count (1 to 9)`, `x.yaml:2:7: "A" is not allowed for name (a name)`, `x.yaml:3:14: "c" is not allowed for word (one of a, b)`},
		"count: many\n":                            {`x.yaml:1:8: "many" is not a whole number (write decimal digits, or such as 20k)`},
		"on: yes\nleast: x\n":                      {`x.yaml:1:5: "yes" is not a truth value (write true or false)`, `x.yaml:2:8: "x" is not a number (write a decimal number such as 0.5)`},
		"name:\n":                                  {`x.yaml:1:6: name has no value (write one, or remove the line: a name)`},
		"words: a\nby: [1]\nname: {}\npart: [1]\n": {`x.yaml:1:8: words is "a", not a list ()`, `x.yaml:2:5: by is a list, not a mapping ()`, `x.yaml:3:7: name is a mapping, not a word (a name)`, `x.yaml:4:7: part is a list, not a mapping (its keys are word, share)`},
		"[]\n":                               {`x.yaml:1:1: the thing is a list, not a mapping (its keys are name, count, big, on, part, behind, many, words, by, least)`},
		"":                                   {`x.yaml:1:1: the thing is empty (write {})`},
		"a: 1\n--- \nb: 2\n":                 {`x.yaml:3:1: a second document begins here (a file holds one thing: remove the --- line and what follows)`},
		strings.Repeat("#", 1001):            {`x.yaml:1:1: the thing is longer than 1000 bytes (is it the right file?)`},
		"name: &x a\nwords: [*x, !!str b]\n": {`x.yaml:1:7: anchors are not part of the format (remove &x and write values out)`, `x.yaml:2:9: aliases are not part of the format (write the value of *x out)`, `x.yaml:2:13: tags are not part of the format (remove !!str)`},
	} {
		if _, got := decode(text); !reflect.DeepEqual(got, want) {
			t.Errorf("%q:\n%s\nwant\n%s", text, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
}

// Whatever the text, each error is one line at a place within it.
func FuzzDecode(f *testing.F) {
	for _, text := range []string{"name: abc\ncount: 7\n", "many: [{word: a, share: 1e3}]", "by: {a: .nan}", "least: 0x1p-2", "a: &b [*b]", "\xff", "name: \"\\u2028\"", "? [a]\n: b", "<<: {}", "{on: true, on: false}"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		root, fault := Document{Name: "x", Kind: "thing", Most: 1000}.Root([]byte(text))
		d := Decoder{File: "x", Whole: "the thing", Root: reflect.TypeFor[whole](), At: map[string]Position{}}
		if fault != nil {
			d.Errors = append(d.Errors, *fault)
		} else {
			d.Decode(root, reflect.ValueOf(new(whole)).Elem(), "")
			d.Options(root, "", "", 0)
		}
		lines := strings.FieldsFunc(text+"\n.", func(r rune) bool { return r == '\n' || r == '\r' || r == 0x85 || r == 0x2028 || r == 0x2029 })
		most := len(lines) + strings.Count(text, "\n") + strings.Count(text, "\r") + 1
		for _, e := range d.Errors {
			if e.Line < 1 || e.Line > most || e.Column < 1 || e.Cause == "" || strings.ContainsAny(e.Cause+e.Hint, "\n\r") {
				t.Fatalf("%q: %+v", text, e)
			}
		}
	})
}

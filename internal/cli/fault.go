package cli

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
	"unicode"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"sixnines/scenario"
)

// fault is an error with its exit code and a hint.
type fault struct {
	code  int
	cause error
	hint  string // what to do next, one line
}

func (f *fault) Error() string { return f.cause.Error() }
func (f *fault) Unwrap() error { return f.cause }

// wrongUsage returns a fault of the command line. An empty hint is replaced by one that
// refers to the help.
func wrongUsage(hint, format string, args ...any) error {
	return &fault{code: exitUsage, cause: fmt.Errorf(format, args...), hint: hint}
}

// isUsage reports whether an error is wrong usage.
func isUsage(err error) bool {
	var f *fault
	return errors.As(err, &f) && f.code == exitUsage
}

// failed returns a fault for something that could not be done.
func failed(hint string, err error) error {
	return &fault{code: exitFailure, cause: err, hint: hint}
}

// ofSide says to which of two runs at the same time an error belongs.
func ofSide(label string, err error) error {
	var f *fault
	if !errors.As(err, &f) {
		return fmt.Errorf("%s: %w", label, err)
	}
	return &fault{code: f.code, cause: fmt.Errorf("%s: %w", label, f.cause), hint: f.hint}
}

// status ends the command with an exit code and without a message, since the output
// has already explained it.
type status int

func (s status) Error() string { return fmt.Sprintf("exit status %d", int(s)) }

// explain says on stderr what went wrong and what to do, and returns the exit
// code.
func (env *Env) explain(cmd *cobra.Command, err error) int {
	if err == nil {
		return exitOK
	}
	var code status
	if errors.As(err, &code) {
		return int(code)
	}
	f := &fault{code: exitFailure, cause: err}
	errors.As(err, &f)
	hint := f.hint
	if hint == "" {
		hint = "see " + cmd.CommandPath() + " --help"
	}
	var many scenario.Errors
	if errors.As(f.cause, &many) {
		for _, e := range many {
			text := oneLine(e.Error())
			if e.Line == 0 { // else it has its file, line and column, in the form that editors jump to
				text = "sixnines: " + text
			}
			fmt.Fprintln(env.Stderr, text)
		}
		if flag := sameFlag(cmd, many); flag != nil && hint == scenarioHint {
			hint = flagHint(flag) // says more than the hint for scenarios
		}
	} else {
		fmt.Fprintln(env.Stderr, "sixnines: "+oneLine(f.cause.Error()))
	}
	fmt.Fprintln(env.Stderr, "hint: "+oneLine(hint))
	return f.code
}

// sameFlag returns the flag of a command whose value is wrong; nil: there are several, or
// something else is wrong.
func sameFlag(cmd *cobra.Command, all scenario.Errors) *pflag.Flag {
	name, isFlag := strings.CutPrefix(all[0].File, "--")
	for _, e := range all {
		if !isFlag || e.File != all[0].File {
			return nil
		}
	}
	name, _, _ = strings.Cut(name, " ") // a flag's key may follow
	return cmd.Flags().Lookup(name)
}

// oneLine joins the lines of a text, such as that of joined errors, and removes control
// characters that would affect a terminal: the text may quote a file.
func oneLine(s string) string {
	lines := strings.FieldsFunc(s, func(r rune) bool { return r == '\n' || r == '\r' })
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, strings.Join(lines, "; "))
}

// flagFault explains why flags could not be read.
func flagFault(cmd *cobra.Command, err error) error {
	var (
		unknown *pflag.NotExistError
		missing *pflag.ValueRequiredError
		invalid *pflag.InvalidValueError
		syntax  *pflag.InvalidSyntaxError
	)
	switch {
	case errors.As(err, &unknown) && unknown.GetSpecifiedShortnames() != "":
		return wrongUsage("flags have long names and two dashes: see "+cmd.CommandPath()+" --help",
			"unknown flag -%s for %q", unknown.GetSpecifiedShortnames(), cmd.CommandPath())
	case errors.As(err, &unknown):
		return unknownFlag(cmd, unknown.GetSpecifiedName())
	case errors.As(err, &missing):
		f := missing.GetFlag()
		return wrongUsage(flagHint(f), "flag --%s needs a value", f.Name)
	case errors.As(err, &invalid):
		var own *fault
		if errors.As(invalid.Unwrap(), &own) {
			return own
		}
		f := invalid.GetFlag()
		return badFlag(f, invalid.GetValue())
	case errors.As(err, &syntax):
		return wrongUsage("", "%q is not a valid flag", syntax.GetSpecifiedFlag())
	}
	return &fault{code: exitUsage, cause: err}
}

// emptyFlag refuses flags with an empty value, as an unset shell variable leaves them:
// treating them as absent would do something else than the user meant.
func emptyFlag(cmd *cobra.Command) (err error) {
	cmd.Flags().Visit(func(f *pflag.Flag) {
		list, is := f.Value.(pflag.SliceValue)
		if f.Value.String() == "" && f.Value.Type() == "string" || is && len(list.GetSlice()) == 0 {
			err = cmp.Or(err, badFlag(f, ""))
		}
	})
	return err
}

func badFlag(f *pflag.Flag, value string) error {
	return wrongUsage(flagHint(f), "--%s cannot be %q", f.Name, value)
}

// flagHint returns a flag, its argument and its meaning, as its help does.
func flagHint(f *pflag.Flag) string {
	argument, usage := pflag.UnquoteUsage(f)
	return joinWords("--"+f.Name, argument) + ": " + usage
}

// counted returns a check of the number of arguments: at least min and, unless
// it is negative, at most most. what names them for people.
func counted(min, most int, what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		switch {
		case len(args) < min:
			return wrongUsage(fmt.Sprintf("usage: %s", cmd.UseLine()), "%s needs %s", cmd.CommandPath(), what)
		case most == 0 && len(args) > 0:
			return wrongUsage(fmt.Sprintf("usage: %s", cmd.UseLine()), "%s takes no arguments, but was given %q", cmd.CommandPath(), args[0])
		case most > 0 && len(args) > most:
			return wrongUsage(fmt.Sprintf("usage: %s", cmd.UseLine()), "%s takes %s; %q is one too many", cmd.CommandPath(), what, args[most])
		}
		return nil
	}
}

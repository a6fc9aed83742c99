package cli

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"sixnines/internal/fleet/merge"
	"sixnines/internal/judge"
	"sixnines/result"
)

// verified is what was found about one result file.
type verified struct {
	File     string          `json:"file"`
	OK       bool            `json:"ok"`
	CutShort bool            `json:"cut_short"`
	Raw      string          `json:"raw,omitempty"`    // the raw file compared with
	Agents   int             `json:"agents,omitempty"` // results of agents from which it was merged again
	Problems []judge.Problem `json:"problems"`
}

func (a *app) verifyCommand() *cobra.Command {
	var (
		raw    string
		asJSON bool
	)
	cmd := &cobra.Command{
		Use:   "verify FILE… | DIR… [flags]",
		Short: "Recompute every figure of a result",
		Long: `Recompute every published figure and the verdict of result files from their intervals,
and from the raw file if there is one. Report every difference, every contradiction
between records, and every difference between the header and the scenario in it. The seal
at the end of a file shows whether other records were changed after they were written. It
is not a proof, since anyone can recompute it.

A result of a fleet is also merged again from the agents' results, if they are beside it,
and these are verified as well.

A DIR stands for all results in it and below it.

The file of a killed run has no figures to compare with; it is checked as far as it goes
and reported as cut short.

Exit codes: 0 everything agrees; 1 something differs; 2 wrong usage: a file is missing,
or is not a result.`,
		Example: `  sixnines verify results/*.jsonl
  sixnines verify a.jsonl --raw moved/a.raw`,
		Args:              counted(1, -1, "at least one result FILE or DIR"),
		ValidArgsFunction: resultFiles,
		RunE: func(_ *cobra.Command, args []string) error {
			args, err := a.resultsIn(args)
			if err != nil {
				return err
			}
			if raw != "" && len(args) > 1 {
				return wrongUsage("verify one result at a time, or leave --raw out: each result records the name of its raw file",
					"--raw gives the raw file of one result, but there are %d", len(args))
			}
			return a.verify(args, raw, asJSON)
		},
	}
	cmd.Flags().StringVar(&raw, "raw", "", "the raw `FILE`; default: the one beside the result, if the run wrote one")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object for each file")
	return cmd
}

func (env *Env) verify(files []string, raw string, asJSON bool) error {
	bad := false
	var first error // of a file that cannot be verified; the others are
	for _, file := range files {
		v, err := env.verifyFile(file, raw)
		if err != nil {
			if len(files) > 1 {
				fmt.Fprintf(env.Stderr, "%s: NOT VERIFIED: %s\n", file, oneLine(err.Error()))
			}
			first = cmp.Or(first, err)
			continue
		}
		bad = bad || !v.OK
		if asJSON {
			if err := env.writeJSON(v); err != nil {
				return err
			}
			continue
		}
		env.printVerified(v)
	}
	if bad && first == nil {
		return status(exitFailure)
	}
	return first
}

// verifyFile checks one result file.
func (env *Env) verifyFile(file, raw string) (verified, error) {
	run, err := env.readRun(file) // verify itself compares the seal
	if errors.Is(err, result.ErrDamaged) {
		return verified{File: file, Problems: []judge.Problem{{Where: "file", Text: err.Error()}}}, nil
	}
	if err != nil {
		return verified{}, err
	}
	v := verified{File: file, Problems: []judge.Problem{}}
	for _, part := range run.Parts() {
		problems := judge.Verify(part, env.Tool)
		if part.Summary != nil && part.Closing == nil {
			fmt.Fprintf(env.Stderr, "%s: written by an earlier version: it has no seal, its header and interval times are not checked, and rules that changed since then show as differences\n", file)
		}
		if part.Summary == nil {
			// That it ends early is known; what else is wrong is not excused by it.
			v.CutShort = true
			problems = slices.DeleteFunc(problems, func(p judge.Problem) bool { return p.Where == "file" })
		}
		for _, p := range problems {
			if w := part.Header.Workload; w != "" {
				p.Where = w + "." + p.Where
			}
			v.Problems = append(v.Problems, p)
		}
	}
	if len(run.Workloads) > 0 && raw != "" {
		return verified{}, wrongUsage("leave --raw out", "a run of several workloads has no raw file")
	}
	if err := env.verifyRaw(&v, run, raw); err != nil {
		return verified{}, err
	}
	if err := env.verifyAgents(&v, run); err != nil {
		return verified{}, err
	}
	v.OK = len(v.Problems) == 0
	return v, nil
}

// verifyAgents merges a result of a fleet again from those of its agents, if they are beside it, and verifies these.
func (env *Env) verifyAgents(v *verified, run *result.Run) error {
	sources := env.fleetFiles(v.File, &run.Header)
	if sources == nil || v.CutShort {
		return nil
	}
	for i, s := range sources {
		if i == len(run.Header.Fleet.Agents) { // the probe's has no figures of its own: merging it again says what differs
			break
		}
		of, err := result.Load(s.Path)
		if err != nil {
			return failed("the agents' results lie beside it in one directory; remove that to verify the merged result alone", fmt.Errorf("agent %s: %w", s.Name, err))
		}
		for _, part := range of.Parts() {
			for _, p := range judge.Verify(part, env.Tool) {
				if p.Where == "file" && run.Header.Fleet.Agents[i].Lost {
					continue // that it ends early is known
				}
				p.Where = "agents." + s.Name + "." + p.Where
				v.Problems = append(v.Problems, p)
			}
		}
	}
	differences, err := merge.Again(env.path(v.File), sources)
	if errors.Is(err, merge.ErrDiffer) {
		differences, err = []string{err.Error()}, nil
	}
	if err != nil {
		return failed("the agents' results lie beside it in one directory; remove that to verify the merged result alone", err)
	}
	for _, text := range differences {
		v.Problems = append(v.Problems, judge.Problem{Where: "merged", Text: text})
	}
	v.Agents = len(sources)
	return nil
}

// verifyRaw compares with the raw file: the one named, or the run's own. That
// of a run that was cut short has more in it than the intervals; only one that
// is asked for is compared.
func (env *Env) verifyRaw(v *verified, run *result.Run, named string) error {
	path := named
	if path == "" {
		if run.Header.Raw == "" || v.CutShort {
			return nil
		}
		path = filepath.Join(filepath.Dir(v.File), filepath.Base(run.Header.Raw))
	}
	problems, err := judge.VerifyRaw(run, env.path(path))
	switch {
	case errors.Is(err, fs.ErrNotExist) && named == "":
		fmt.Fprintf(env.Stderr, "%s: its raw file %s does not exist; only the intervals are checked\n", v.File, path)
		return nil
	case errors.Is(err, fs.ErrNotExist):
		return wrongUsage("name the file that sixnines run --raw wrote", "%s does not exist", path)
	case err != nil:
		return failed("name the file that sixnines run --raw wrote for this result", err)
	}
	v.Raw = path
	v.Problems = append(v.Problems, problems...)
	return nil
}

func (env *Env) printVerified(v verified) {
	for _, p := range v.Problems {
		fmt.Fprintf(env.Stdout, "%s: %s\n", v.File, oneLine(p.String()))
	}
	from := "the intervals" + before(" and ", v.Raw)
	if v.Agents > 0 {
		from += " and the results of " + plural(v.Agents, "agent")
	}
	switch {
	case !v.OK:
		fmt.Fprintf(env.Stdout, "%s: DIFFERENT: %s from %s\n", v.File, differing(len(v.Problems)), from)
	case v.CutShort:
		fmt.Fprintf(env.Stdout, "%s: OK, cut short: the existing records are consistent\n", v.File)
	default:
		fmt.Fprintf(env.Stdout, "%s: OK: every figure agrees with %s\n", v.File, from)
	}
}

func differing(n int) string {
	if n == 1 {
		return "1 difference"
	}
	return grouped(int64(n)) + " differences"
}

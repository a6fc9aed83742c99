package cli

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"sixnines/internal/report"
	"sixnines/internal/spell"
	"sixnines/internal/study"
	"sixnines/scenario"
)

func (a *app) studyCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "study",
		Short: "Repeat published benchmarks: ready-made studies to run, cite and copy",
		Long: `A study is a table of cells (systems under loads) together with what was published
about them: the figures, as printed, and the conclusions, each with the condition under
which it holds. Running it measures all cells and writes a page in the order of the
original, with today's figures beside the author's. The page says of each conclusion
whether the measurement agrees, disagrees, or cannot decide here and what it would take.`,
		Example: `  sixnines study list
  sixnines study show message-queue-latency
  sixnines study run message-queue-latency --quick
  sixnines study export message-queue-latency mine`,
		Args: unknownCommand,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(a.studyListCommand(), a.studyShowCommand(), a.studyRunCommand(), a.studyExportCommand())
	return cmd
}

// studyRow is a study in a list, in JSON.
type studyRow struct {
	Name     string `json:"name"`
	Title    string `json:"title"`
	Question string `json:"question"`
	Original string `json:"original,omitempty"` // who published it, and when
	Cells    int    `json:"cells"`              // at the default length
}

func (a *app) studyListCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "list",
		Short:   "List the studies",
		Long:    "List the built-in studies: the question of each, and who published it.",
		Example: "  sixnines study list",
		Args:    counted(0, 0, ""),
		RunE: func(*cobra.Command, []string) error {
			all, err := study.List()
			if err != nil {
				return err
			}
			rows := []studyRow{}
			for _, s := range all {
				cells, err := s.Cells(study.Default)
				if err != nil {
					return err
				}
				row := studyRow{Name: s.Name, Title: s.Title, Question: s.Question, Cells: len(cells)}
				if o := s.Original; o != nil {
					row.Original = o.Author + before(", ", o.Date)
				}
				rows = append(rows, row)
			}
			if asJSON {
				return a.writeJSON(rows)
			}
			w := tabwriter.NewWriter(a.Stdout, 0, 0, 2, ' ', 0)
			fmt.Fprintln(w, "NAME\tORIGINAL\tCELLS\tQUESTION")
			for _, r := range rows {
				fmt.Fprintf(w, "%s\t%s\t%d\t%s\n", r.Name, cmp.Or(r.Original, "ours"), r.Cells, r.Question)
			}
			return w.Flush()
		},
	}
	jsonFlag(cmd.Flags(), &asJSON, "one JSON array")
	return cmd
}

// studyOf returns the study of an argument: one that is built in, or a file.
func (env *Env) studyOf(arg string) (*study.Study, error) {
	if !strings.ContainsAny(arg, `/\`) && filepath.Ext(arg) == "" {
		s, err := study.Find(arg)
		if errors.Is(err, study.ErrUnknown) {
			hint := "choose one of " + strings.Join(study.Names(), ", ") + "; give a file with its extension, as in mine/study.yaml"
			return nil, wrongUsage(orMeant(arg, study.Names(), hint), "there is no study %q", arg)
		}
		return s, err
	}
	text, err := os.ReadFile(env.path(arg))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, wrongUsage("write a study to start from with: sixnines study export "+study.Names()[0]+" DIR", "there is no study %s", arg)
	case err != nil:
		return nil, failed("give the file study.yaml of a study", fmt.Errorf("read the study: %w", err))
	}
	s, err := study.Parse(arg, text)
	if err != nil {
		return nil, &fault{exitUsage, err, "docs/studies.md describes the format of studies"}
	}
	return s, nil
}

func completeStudies(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return study.Names(), cobra.ShellCompDirectiveDefault
}

func (a *app) studyShowCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "show STUDY",
		Short: "Show what a study measures and what it decides",
		Long: `Show a study before running it: what it repeats, its systems, loads and cells, how long
each length takes, and the conclusions with the test of each.`,
		Example: `  sixnines study show message-queue-latency
  sixnines study show mine/study.yaml`,
		Args:              counted(1, 1, "one STUDY"),
		ValidArgsFunction: completeStudies,
		RunE: func(_ *cobra.Command, args []string) error {
			s, err := a.studyOf(args[0])
			if err != nil {
				return err
			}
			return a.showStudy(s)
		},
	}
}

// showStudy prints a study.
func (env *Env) showStudy(s *study.Study) error {
	var lengths []report.StudyLength
	for _, length := range []string{study.Quick, study.Default, study.Full} {
		p, err := env.planStudy(s, studyOptions{length: length})
		if err != nil {
			return err
		}
		lengths = append(lengths, report.StudyLength{Name: length, Takes: p.estimate(p.places, 0)})
	}
	return report.StudyPlan(env.Stdout, s, lengths, env.reportOptions(env.Stdout))
}

func (a *app) studyExportCommand() *cobra.Command {
	var length, broker string
	cmd := &cobra.Command{
		Use:   "export STUDY DIR",
		Short: "Write a study and its scenarios as files to copy and change",
		Long: `Write a study into a new or empty directory: study.yaml, which sixnines study run takes
instead of a name; a scenario file for each cell, which sixnines run takes; and a README
with the commands.`,
		Example: `  sixnines study export message-queue-latency mine
  sixnines study run mine/study.yaml --quick
  sixnines run mine/nats-1KiB-3000.yaml`,
		Args: counted(2, 2, "a STUDY and a DIR"),
		ValidArgsFunction: func(cmd *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective) {
			if len(args) == 1 {
				return nil, cobra.ShellCompDirectiveFilterDirs
			}
			return completeStudies(cmd, args, prefix)
		},
		RunE: func(_ *cobra.Command, args []string) error {
			s, err := a.studyOf(args[0])
			if err != nil {
				return err
			}
			if _, err := s.Length(length); err != nil {
				return wrongUsage("choose quick, default or full", "--length cannot be %q", length)
			}
			if broker != "" {
				if s, _, err = a.argued(s, broker); err != nil {
					return err
				}
			}
			return a.exportStudy(s, length, args[1])
		},
	}
	cmd.Flags().StringVar(&length, "length", study.Default, "the `LENGTH` of the scenarios: quick, default or full")
	cmd.Flags().StringVar(&broker, "broker", "", "for a study that takes --broker: the broker and its versions, `PRODUCT=VERSION,VERSION`; default: the study's example")
	completeFlag(cmd, "length", oneOf(study.Quick, study.Default, study.Full))
	return cmd
}

// exportStudy writes a study's files.
func (env *Env) exportStudy(s *study.Study, length, dir string) error {
	if left, err := os.ReadDir(env.path(dir)); err == nil && len(left) > 0 {
		return wrongUsage("give a directory that does not exist yet", "%s is not empty", dir)
	}
	cells, err := s.Cells(length)
	if err != nil {
		return err
	}
	files := map[string]string{study.FileName: string(s.Text())}
	var readme strings.Builder
	whole := filepath.Join(dir, study.FileName)
	if s.Argument != nil {
		whole += " --broker " + s.Argument.String()
	}
	fmt.Fprintf(&readme, "# %s\n\n%s\n\nThe whole study, which you may edit:\n\n    sixnines study run %s\n\nOne cell each, of the length %s:\n\n", s.Title, s.Question, whole, length)
	for i := range cells {
		c := &cells[i]
		if _, ok := c.Bench(); ok {
			fmt.Fprintf(&readme, "    %s is the micro-benchmark %s of Go, and has no scenario\n", c.Name, c.Load.Bench)
			continue
		}
		text, err := c.YAML()
		if err != nil {
			return err
		}
		name := strings.ReplaceAll(c.Name, "/", "-") + ".yaml"
		command := "sixnines run " + filepath.Join(dir, name)
		files[name] = fmt.Sprintf("# %s: %s, %s.\n# A cell of the study %s, length %s.\n#\n#   %s\n%s", c.Name, c.System.Title, c.Load.Title, s.Name, length, command, text)
		fmt.Fprintf(&readme, "    %s\n", command)
	}
	files["README.md"] = readme.String()
	if err := os.MkdirAll(env.path(dir), 0o755); err != nil {
		return failed("name another directory", err)
	}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		err := env.writeNew(filepath.Join(dir, name), false, func(w io.Writer) error {
			_, err := io.WriteString(w, files[name])
			return err
		})
		if err != nil {
			return failed(fileHint(err), fmt.Errorf("write the study: %w", err))
		}
	}
	_, err = fmt.Fprintf(env.Stdout, "%s, %s, and README.md in %s\n", study.FileName, spell.Plural(len(files)-2, "scenario"), dir)
	return err
}

// asUsage makes what is wrong with a study's scenario wrong usage.
func asUsage(err error) error {
	var many scenario.Errors
	if errors.As(err, &many) {
		return &fault{exitUsage, err, scenarioHint}
	}
	return err
}

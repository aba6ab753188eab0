// Package survive runs an operator under crashes, lost answers and stale caches at each of its writes, by `conformance survive`.
//
// It needs nothing but the standard library.
package survive

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

const (
	// defaultTimeout is the limit of a campaign.
	defaultTimeout = time.Hour
	// stopTimeout is the time that the program has to end its runs before it is killed.
	stopTimeout = 20 * time.Second
	// shown is the number of plans that a failure shows.
	shown = 5

	reference = "reference"
	// reportFile is the file of a report that is read.
	reportFile = "report.json"
)

// Options say what is run.
type Options struct {
	// Workload is the path of a file of steps.
	Workload string
	// CRDs are files and folders of definitions, and of other objects that are there from the start.
	CRDs []string
	// Command is the operator's program with its arguments, executed without a shell. KUBECONFIG is set for it.
	Command []string
	// Plans is the number of plans; if 0, each write by each family.
	Plans int
	// Families are the families of plans, as in "crash"; if empty, all.
	Families []string
	// KubernetesVersion is the version of Kubernetes, as in "1.34"; if empty, the default of the program.
	KubernetesVersion string
	// Flags are other flags of `conformance survive`.
	Flags []string
	// Report is the folder of the report; if empty, a temporary one that is kept if the test fails.
	Report string
	// Program is the path of `conformance`; if empty, FindProgram finds it.
	Program string
	// Timeout is the limit of all runs; if 0, an hour. The limit of `go test` ends them too.
	Timeout time.Duration
}

// Report is the part of report.json that tests need.
type Report struct {
	// Folder is that of the report, in which each failure has a timeline, a log and a file to replay it.
	Folder string `json:"-"`
	// Reference are the runs without perturbation.
	Reference Reference `json:"reference"`
	// Runs are those of the plans.
	Runs []PlanRun `json:"runs"`
}

// Reference are the runs without perturbation.
type Reference struct {
	// Writes are those of the operator that changed something.
	Writes []string `json:"writes"`
	// Findings are the promises that the operator breaks without any perturbation.
	Findings []Finding `json:"findings"`
}

// PlanRun is the run of a plan.
type PlanRun struct {
	Family   string `json:"family"`
	Plan     string `json:"plan"`
	Survived bool   `json:"survived"`
	// Idle is true if the plan's write did not come, so that the run says nothing.
	Idle     bool      `json:"idle"`
	Findings []Finding `json:"findings"`
	// Replay is the path of the file that replays it, if it failed.
	Replay string `json:"replay"`
}

// Finding is a broken promise.
type Finding struct {
	Promise string `json:"promise"`
	Text    string `json:"text"`
}

// String returns it in one line.
func (f Finding) String() string { return strings.ReplaceAll(f.Promise, "-", " ") + ": " + f.Text }

// Run runs an operator under the plans, and makes each family a subtest, which fails if a plan breaks a promise.
//
// The test ends at once if the plans cannot be run: the operator does not get through the workload without any perturbation, say.
func Run(t *testing.T, options Options) *Report {
	t.Helper()
	report, err := campaign(t, options)
	if err != nil {
		t.Fatalf("survive: %v", err)
	}
	program, folder := report.program, report.folder
	for _, name := range families(options, report.Report) {
		t.Run(name, func(t *testing.T) {
			runs := slices.DeleteFunc(slices.Clone(report.Runs), func(run PlanRun) bool { return run.Family != name })
			if text := failure(name, runs, report.Report, program, folder); text != "" {
				t.Error(text)
			} else if reason := silence(name, runs); reason != "" {
				t.Skip(reason)
			}
		})
	}
	return report.Report
}

// ran is a report with what ran it.
type ran struct {
	*Report
	program, folder string
}

func campaign(t *testing.T, options Options) (ran, error) {
	if options.Workload == "" {
		return ran{}, errors.New("Workload: the path of a file of steps is needed")
	}
	if len(options.Command) == 0 {
		return ran{}, errors.New("Command: the operator's program is needed, with its arguments")
	}
	program := options.Program
	if program == "" {
		found, err := FindProgram()
		if err != nil {
			return ran{}, err
		}
		program = found
	}
	// The runs would wait for it for minutes.
	if _, err := exec.LookPath(options.Command[0]); err != nil && !strings.Contains(options.Command[0], "{") {
		return ran{}, fmt.Errorf("Command: %w", err)
	}
	folder, err := os.Getwd()
	if err != nil {
		return ran{}, err
	}
	into, err := reportFolder(t, options.Report)
	if err != nil {
		return ran{}, err
	}
	if err := execute(t, options, program, into); err != nil {
		return ran{}, err
	}
	report, err := read(into)
	return ran{report, program, folder}, err
}

// reportFolder returns the folder that was chosen, or a temporary one, which is removed if the test passes.
func reportFolder(t *testing.T, chosen string) (string, error) {
	if chosen != "" {
		return filepath.Abs(chosen)
	}
	temporary, err := os.MkdirTemp("", "survive-report-")
	if err != nil {
		return "", err
	}
	t.Cleanup(func() {
		if t.Failed() {
			// Succeeds if it is empty.
			_ = os.Remove(temporary)
		} else {
			_ = os.RemoveAll(temporary)
		}
	})
	return temporary, nil
}

// execute runs the program to its end, or to that of the test.
func execute(t *testing.T, options Options, program, into string) error {
	timeout := cmp.Or(options.Timeout, defaultTimeout)
	if deadline, ok := t.Deadline(); ok {
		// The limit of `go test` is a panic, after which nothing is cleaned up.
		timeout = min(timeout, max(time.Until(deadline)-stopTimeout, time.Second))
	}
	expired := fmt.Errorf("the plans have not ended within %s (Timeout, or -timeout of go test less %s): choose fewer by Plans or Families", timeout.Round(time.Second), stopTimeout)
	ctx, cancel := context.WithTimeoutCause(t.Context(), timeout, expired)
	defer cancel()
	words := arguments(options, into)
	command := exec.CommandContext(ctx, program, words...)
	output, err := runInGroup(command)
	if cause := context.Cause(ctx); cause != nil && err != nil {
		return cause
	}
	ended := new(exec.ExitError)
	if errors.As(err, &ended) && ended.ExitCode() == 1 {
		return nil
	}
	if err != nil {
		return fmt.Errorf("%s\n%s: %w", cmp.Or(strings.TrimSpace(output), "it said nothing"), quoted(append([]string{program}, words...)), err)
	}
	return nil
}

func arguments(options Options, into string) []string {
	words := []string{"survive", "--workload", options.Workload, "--report", into}
	for _, path := range options.CRDs {
		words = append(words, "--crds", path)
	}
	if len(options.Families) > 0 {
		words = append(words, "--families", strings.Join(options.Families, ","))
	}
	if options.Plans > 0 {
		words = append(words, "--plans", strconv.Itoa(options.Plans))
	}
	if options.KubernetesVersion != "" {
		words = append(words, "--kubernetes-version", options.KubernetesVersion)
	}
	return slices.Concat(words, options.Flags, []string{"--"}, options.Command)
}

func read(folder string) (*Report, error) {
	file := filepath.Join(folder, reportFile)
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("there is no report of `conformance survive`: %w", err)
	}
	report := &Report{Folder: folder}
	if err := json.Unmarshal(text, report); err != nil {
		return nil, fmt.Errorf("%s is no report of `conformance survive`: %w", file, err)
	}
	return report, nil
}

// families returns the names of the subtests: the reference, those of the options, and those of the report.
func families(options Options, report *Report) []string {
	names := append([]string{reference}, options.Families...)
	for _, run := range report.Runs {
		if !slices.Contains(names, run.Family) {
			names = append(names, run.Family)
		}
	}
	return names
}

// failure describes the broken promises of a family, each with its timeline and the line that replays it.
func failure(family string, runs []PlanRun, report *Report, program, folder string) string {
	var text strings.Builder
	if family == reference && len(report.Reference.Findings) > 0 {
		text.WriteString("promises are broken without any perturbation")
		for _, finding := range report.Reference.Findings {
			fmt.Fprintf(&text, "\n  %s", finding)
		}
		return text.String()
	}
	broken := slices.DeleteFunc(slices.Clone(runs), func(run PlanRun) bool { return run.Survived })
	if len(broken) == 0 {
		return ""
	}
	fmt.Fprintf(&text, "%d of %d plans break a promise", len(broken), len(runs))
	for _, run := range broken[:min(shown, len(broken))] {
		fmt.Fprintf(&text, "\n%s", run.Plan)
		for _, finding := range run.Findings {
			fmt.Fprintf(&text, "\n  %s", finding)
		}
		timeline := strings.TrimSuffix(run.Replay, filepath.Ext(run.Replay)) + ".txt"
		replay := quoted([]string{program, "survive", "--replay", run.Replay})
		fmt.Fprintf(&text, "\n  timeline: %s\n  replay:   cd %s && %s", timeline, quoted([]string{folder}), replay)
	}
	if more := len(broken) - shown; more > 0 {
		fmt.Fprintf(&text, "\nand %d more in %s", more, report.Folder)
	}
	return text.String()
}

// silence returns why a family says nothing about the operator, if it does not.
func silence(family string, runs []PlanRun) string {
	if family == reference || slices.ContainsFunc(runs, func(run PlanRun) bool { return !run.Idle }) {
		return ""
	}
	if len(runs) > 0 {
		return fmt.Sprintf("the writes of its %d plans did not come", len(runs))
	}
	return "no plan of this family applies to the operator"
}

// quoted returns words as a line of a shell.
func quoted(words []string) string {
	parts := make([]string, 0, len(words))
	for _, word := range words {
		isPlain := func(letter rune) bool {
			return letter >= 'a' && letter <= 'z' || letter >= 'A' && letter <= 'Z' || letter >= '0' && letter <= '9' || strings.ContainsRune("@%+=:,./-_", letter)
		}
		if word == "" || strings.ContainsFunc(word, func(letter rune) bool { return !isPlain(letter) }) {
			word = "'" + strings.ReplaceAll(word, "'", `'"'"'`) + "'"
		}
		parts = append(parts, word)
	}
	return strings.Join(parts, " ")
}

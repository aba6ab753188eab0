package survive_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"fakeserver/survive"
)

const (
	// inner is the variable with the options of the test that TestInner runs.
	inner = "SURVIVE_TEST_INNER"
	limit = 20 * time.Second
	steps = `
steps:
- apply: {apiVersion: v1, kind: ConfigMap, metadata: {name: first, namespace: default, labels: {wanted: ""}}, data: {a: b}}
- quiet: 500ms
`
)

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// options returns those of an operator of this program, and skips the test where there is no program.
func options(t *testing.T, kind string, families ...string) survive.Options {
	t.Helper()
	if _, err := survive.FindProgram(); err != nil {
		t.Skip(err)
	}
	program, err := os.Executable()
	must(t, err)
	t.Setenv(operator, kind)
	workload := filepath.Join(t.TempDir(), "survive.yaml")
	must(t, os.WriteFile(workload, []byte(steps), 0o600))
	return survive.Options{Workload: workload, Command: []string{program}, Families: families}
}

// TestInner fails where others look at how it does.
func TestInner(t *testing.T) {
	text := os.Getenv(inner)
	if text == "" {
		t.Skip("it is run by the other tests")
	}
	var options survive.Options
	must(t, json.Unmarshal([]byte(text), &options))
	survive.Run(t, options)
}

func innerTest(t *testing.T, options survive.Options) (*exec.Cmd, *bytes.Buffer) {
	t.Helper()
	text, err := json.Marshal(options)
	must(t, err)
	program, err := os.Executable()
	must(t, err)
	said := &bytes.Buffer{}
	command := exec.Command(program, "-test.run=^TestInner$", "-test.v")
	command.Env = append(os.Environ(), inner+"="+string(text))
	command.Stdout, command.Stderr = said, said
	return command, said
}

// fails runs a test that fails, and returns what it said.
func fails(t *testing.T, options survive.Options) string {
	t.Helper()
	command, said := innerTest(t, options)
	if ended := new(exec.ExitError); !errors.As(command.Run(), &ended) || ended.ExitCode() != 1 {
		t.Fatalf("it did not fail: %s", said)
	}
	return said.String()
}

func expect(t *testing.T, said string, wanted ...string) {
	t.Helper()
	for _, pattern := range wanted {
		if !regexp.MustCompile("(?s)" + pattern).MatchString(said) {
			t.Fatalf("wanted %s, found %s", pattern, said)
		}
	}
}

func TestCorrectOperatorSurvives(t *testing.T) {
	report := survive.Run(t, options(t, "correct", "crash", "leader"))
	if wanted := []string{"create configmaps default/first-copy", "patch configmaps default/first"}; !slices.Equal(report.Reference.Writes, wanted) {
		t.Fatal(report.Reference.Writes)
	}
	if len(report.Runs) != 6 || slices.ContainsFunc(report.Runs, func(run survive.PlanRun) bool { return !run.Survived }) {
		t.Fatalf("%+v", report.Runs)
	}
	if _, err := os.Stat(filepath.Join(report.Folder, "report.json")); err != nil {
		t.Fatal(err)
	}
}

func TestBrokenPromiseFailsAndReplays(t *testing.T) {
	options := options(t, "buggy", "crash", "leader")
	options.Report = filepath.Join(t.TempDir(), "report of a test")
	said := fails(t, options)
	expect(t, said,
		`--- FAIL: TestInner/crash`, `--- PASS: TestInner/reference`, `--- SKIP: TestInner/leader`,
		`3 of 6 plans break a promise\n`, `no plan of this family applies to the operator`,
		`\n +crash after create configmaps default/first-\*\n +end state: configmaps default/first-\* there are 2 instead of 1\n`)
	found := regexp.MustCompile(`timeline: (.*)\n`).FindStringSubmatch(said)
	timeline, err := os.ReadFile(found[1])
	must(t, err)
	expect(t, string(timeline), "killed, by the plan")
	replay := regexp.MustCompile(`replay:   (.*)\n`).FindStringSubmatch(said)
	again, err := exec.Command("sh", "-c", replay[1]).CombinedOutput()
	if err == nil {
		t.Fatal("every promise was kept")
	}
	expect(t, string(again), `configmaps default/first-\* there are 2 instead of 1`)
}

func TestReportsOfFailuresAreKept(t *testing.T) {
	options := options(t, "buggy", "lost-answer")
	temporary := t.TempDir()
	t.Setenv("TMPDIR", temporary)
	expect(t, fails(t, options), "timeline: "+temporary+"/survive-report-")
	kept, err := filepath.Glob(filepath.Join(temporary, "survive-report-*", "report.json"))
	if err != nil || len(kept) != 1 {
		t.Fatal(kept, err)
	}
}

func TestRefusals(t *testing.T) {
	base := options(t, "correct")
	foreign := t.TempDir()
	must(t, os.WriteFile(filepath.Join(foreign, "notes.txt"), []byte("mine"), 0o600))
	for name, test := range map[string]struct {
		change func(*survive.Options)
		wanted string
	}{
		"no workload":          {func(o *survive.Options) { o.Workload = "" }, "survive: Workload: the path of a file of steps is needed"},
		"no command":           {func(o *survive.Options) { o.Command = nil }, "survive: Command: the operator's program is needed"},
		"no such operator":     {func(o *survive.Options) { o.Command = []string{"./none"} }, `survive: Command: exec: "./none": .*no such file`},
		"no such workload":     {func(o *survive.Options) { o.Workload = "none.yaml" }, "survive: cannot read none.yaml: No such file.*exit status 2"},
		"no such definition":   {func(o *survive.Options) { o.CRDs = []string{"crd.yaml"} }, "cannot read crd.yaml: No such file"},
		"an unknown family":    {func(o *survive.Options) { o.Families = []string{"crsh"} }, "invalid value 'crsh'.*possible values: crash, lost-answer"},
		"an unknown version":   {func(o *survive.Options) { o.KubernetesVersion = "1.30" }, `no version "1.30" of Kubernetes; there are 1.31`},
		"an unknown flag":      {func(o *survive.Options) { o.Flags = []string{"--nope"} }, "unexpected argument '--nope'"},
		"a folder of others":   {func(o *survive.Options) { o.Report = foreign }, "holds other files than those that a report wrote there .*; choose another --report"},
		"another program":      {func(o *survive.Options) { o.Program = "true" }, "there is no report of `conformance survive`"},
		"a program that fails": {func(o *survive.Options) { o.Program = "/nonexistent/conformance" }, "no such file"},
	} {
		t.Run(name, func(t *testing.T) {
			options := base
			test.change(&options)
			expect(t, fails(t, options), test.wanted)
		})
	}
	if text, err := os.ReadFile(filepath.Join(foreign, "notes.txt")); err != nil || string(text) != "mine" {
		t.Fatal(text, err)
	}
}

func TestMissingProgram(t *testing.T) {
	options := survive.Options{Workload: "survive.yaml", Command: []string{"/bin/true"}}
	t.Setenv("CONFORMANCE_BIN", "/nonexistent/conformance")
	expect(t, fails(t, options), "CONFORMANCE_BIN is /nonexistent/conformance, which is no program .*: correct it, or unset it")
	t.Setenv("CONFORMANCE_BIN", "")
	t.Setenv("PATH", "/nonexistent")
	expect(t, fails(t, options), `there is no program conformance on the PATH: install it \(cargo install --path conformance .*\), or set CONFORMANCE_BIN`)
}

func TestTimeoutEndsTheRuns(t *testing.T) {
	options := options(t, "correct")
	mark := "runs-of-" + filepath.Base(t.TempDir()) + "-" + t.Name()
	options.Command, options.Timeout = append(options.Command, mark), 2*time.Second
	expect(t, fails(t, options), "survive: the plans have not ended within 2s .*: choose fewer by Plans or Families")
	if left := processes(mark); len(left) > 0 {
		t.Fatal("left: ", left)
	}
}

func TestEndOfTheProcessEndsTheRuns(t *testing.T) {
	if _, err := os.Stat("/proc/self/cmdline"); err != nil {
		t.Skip("signals of a parent's end are those of Linux")
	}
	options := options(t, "correct")
	mark := "runs-of-" + filepath.Base(t.TempDir()) + "-" + t.Name()
	options.Command = append(options.Command, mark)
	command, said := innerTest(t, options)
	must(t, command.Start())
	until(t, "an operator runs", func() bool { return len(processes(mark)) > 1 })
	must(t, command.Process.Kill())
	_ = command.Wait()
	until(t, "nothing runs", func() bool { return len(processes(mark)) == 0 })
	_ = said
}

func until(t *testing.T, what string, condition func() bool) {
	t.Helper()
	for deadline := time.Now().Add(limit); !condition(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("not within %s: %s", limit, what)
		}
	}
}

// processes returns the command lines of the processes that have a word in it.
func processes(word string) []string {
	files, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	var found []string
	for _, file := range files {
		text, err := os.ReadFile(file)
		if words := strings.Split(string(text), "\x00"); err == nil && slices.Contains(words, word) {
			found = append(found, strings.Join(words, " "))
		}
	}
	return found
}

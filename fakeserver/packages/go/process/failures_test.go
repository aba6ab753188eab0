package process_test

import (
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"testing"
	"time"

	"fakeserver/control"
	"fakeserver/process"
)

// script returns a program made of a line of shell.
func script(t *testing.T, line string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "program")
	must(t, os.WriteFile(file, []byte("#!/bin/sh\n"+line+"\n"), 0o700))
	return file
}

func TestErrorsOfTheStart(t *testing.T) {
	for name, test := range map[string]struct {
		options process.Options
		wanted  string
	}{
		"exits":       {process.Options{Program: script(t, "echo no luck >&2; exit 3")}, `did not start: .*\(exit status 3\); it said:\nno luck\ncommand: .*/program serve`},
		"is killed":   {process.Options{Program: script(t, "kill -9 $$")}, `did not start: .*signal: killed`},
		"is no file":  {process.Options{Program: "/nonexistent/fakeserver"}, `did not start: .*no such file`},
		"is silent":   {process.Options{Program: script(t, "exec sleep 60"), StartTimeout: 200 * time.Millisecond}, `said no address within 200ms`},
		"leaves one":  {process.Options{Program: script(t, "sleep 20; exit 1"), StartTimeout: 200 * time.Millisecond}, `said no address within 200ms`},
		"says hello":  {process.Options{Program: script(t, "echo hello; exec sleep 60")}, `its first line is no address but: hello`},
		"knows flags": {process.Options{Flags: []string{"--controler", "none"}}, `it said:\nerror: unexpected argument '--controler'`},
	} {
		t.Run(name, func(t *testing.T) { expectError(t, test.options, test.wanted) })
	}
}

func expectError(t *testing.T, options process.Options, wanted string) {
	t.Helper()
	server, err := process.Start(options)
	if err == nil {
		server.Stop()
		t.Fatal("it started")
	}
	if !regexp.MustCompile("(?s)" + wanted).MatchString(err.Error()) {
		t.Fatalf("found %v, wanted %s", err, wanted)
	}
}

func TestMissingProgram(t *testing.T) {
	t.Setenv("FAKESERVER_BIN", "/nonexistent/fakeserver")
	expectError(t, process.Options{}, "FAKESERVER_BIN is /nonexistent/fakeserver, which is no program .*: correct it, or unset it")
	t.Setenv("FAKESERVER_BIN", "")
	t.Setenv("PATH", "/nonexistent")
	// The built module has one.
	if found, err := process.FindProgram(); err == nil {
		if filepath.Base(filepath.Dir(found)) != "bin" {
			t.Fatal(found)
		}
		t.Skip("there is one beside the module: ", found)
	}
	expectError(t, process.Options{}, "there is no program fakeserver on the PATH or at /.*/bin/fakeserver: install it .*, or set FAKESERVER_BIN")
}

func TestVariableComesFirst(t *testing.T) {
	program := script(t, "exit 0")
	t.Setenv("FAKESERVER_BIN", program)
	if found, err := process.FindProgram(); err != nil || found != program {
		t.Fatal(found, err)
	}
}

func TestInvalidFaultNamesItsField(t *testing.T) {
	server := start(t)
	invalid := control.Fault{Name: control.FaultThrottle, Parameters: map[string]any{"retryAfter": 2}}
	_, err := server.Control.InstallFaults(t.Context(), control.Fault{Name: control.FaultThrottle}, invalid)
	var refused *control.Error
	if !errors.As(err, &refused) || refused.StatusCode != 400 || refused.Field != "[1].retryAfter" {
		t.Fatalf("%#v", err)
	}
	if faults, err := server.Control.ListFaults(t.Context()); err != nil || len(faults.Items) != 0 {
		t.Fatal(faults, err)
	}
}

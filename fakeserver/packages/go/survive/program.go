package survive

import (
	"errors"
	"fmt"
	"os/exec"
	"runtime"
	"strings"
	"syscall"

	"fakeserver/internal/program"
)

// variable names the program.
const variable = "CONFORMANCE_BIN"

// FindProgram returns the path of the program `conformance`: CONFORMANCE_BIN, or the one on the PATH.
func FindProgram() (string, error) {
	if found, err := program.Find(variable, "conformance"); found != "" || err != nil {
		return found, err
	}
	return "", fmt.Errorf("there is no program conformance on the PATH: install it "+
		"(cargo install --path conformance in the repository of fakeserver), or set %s to its path", variable)
}

// runInGroup runs a command in a process group of its own, which is gone when this returns, and returns what it said.
//
// It ends with its context and with this process, even if that is killed: on the signal it kills the operators of its runs.
func runInGroup(command *exec.Cmd) (string, error) {
	// The signal of the parent's end comes when the thread that has started it ends.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var said strings.Builder
	command.Stdout, command.Stderr = &said, &said
	command.SysProcAttr = attributes()
	command.Cancel = func() error { return command.Process.Signal(syscall.SIGINT) }
	command.WaitDelay = stopTimeout / 2
	err := command.Run()
	if command.Process != nil {
		// What it has left behind, if it had to be killed.
		if killed := syscall.Kill(-command.Process.Pid, syscall.SIGKILL); killed != nil && !errors.Is(killed, syscall.ESRCH) {
			err = errors.Join(err, killed)
		}
	}
	return said.String(), err
}

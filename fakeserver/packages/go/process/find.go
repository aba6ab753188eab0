package process

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"runtime"

	"fakeserver/internal/program"
)

// variable names the program.
const variable = "FAKESERVER_BIN"

// FindProgram returns the path of the program: FAKESERVER_BIN, or the one on the PATH, or bin/fakeserver in the folder of this module.
func FindProgram() (string, error) {
	if found, err := program.Find(variable, "fakeserver"); found != "" || err != nil {
		return found, err
	}
	beside := besideModule()
	if found, err := exec.LookPath(beside); beside != "" && err == nil {
		return found, nil
	}
	where := "in bin/ of this module"
	if beside != "" {
		where = "at " + beside
	}
	return "", fmt.Errorf("there is no program fakeserver on the PATH or %s: install it "+
		"(cargo install --path fakeserver in its repository, or a package that scripts/package.sh builds there), or set %s to its path", where, variable)
}

// besideModule returns the path of the program in the folder of this module, or nothing if the folder is unknown (-trimpath).
func besideModule() string {
	_, file, _, _ := runtime.Caller(0)
	if !filepath.IsAbs(file) {
		return ""
	}
	return filepath.Join(filepath.Dir(filepath.Dir(file)), "bin", "fakeserver")
}

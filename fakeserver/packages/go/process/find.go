package process

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
)

// variable names the program.
const variable = "FAKESERVER_BIN"

// FindProgram returns the path of the program: FAKESERVER_BIN, or the one on the PATH, or bin/fakeserver in the folder of this module.
func FindProgram() (string, error) {
	if named := os.Getenv(variable); named != "" {
		found, err := exec.LookPath(named)
		if err != nil {
			return "", fmt.Errorf("%s is %s, which is no program (%w): correct it, or unset it", variable, named, err)
		}
		return filepath.Abs(found)
	}
	if found, err := exec.LookPath("fakeserver"); err == nil {
		return filepath.Abs(found)
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

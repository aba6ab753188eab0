// Package program finds the programs that the packages of this module start.
package program

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// Find returns the path of a program: that of an environment variable, or the one on the PATH. It is empty if there is none.
func Find(variable, name string) (string, error) {
	if named := os.Getenv(variable); named != "" {
		found, err := exec.LookPath(named)
		if err != nil {
			return "", fmt.Errorf("%s is %s, which is no program (%w): correct it, or unset it", variable, named, err)
		}
		return filepath.Abs(found)
	}
	if found, err := exec.LookPath(name); err == nil {
		return filepath.Abs(found)
	}
	return "", nil
}

//go:build unix && !linux

package survive

import "syscall"

// attributes are those of a process with a group of its own.
func attributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

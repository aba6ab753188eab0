package survive

import "syscall"

// attributes are those of a process with a group of its own, which is told to end if this process ends.
func attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGINT}
}

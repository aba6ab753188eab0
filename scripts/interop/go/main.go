// The checks of client-go against the server that KUBECONFIG names.
//
//	client-go-checks            prints the version of client-go
//	client-go-checks informer   carries out one of the checks below, which needs a new server
//
// scripts/interop/run.sh builds it with the client-go of each version that is there.
package main

import (
	"fmt"
	"maps"
	"os"
	"runtime/debug"
	"slices"
)

// checks are the names of all checks, with what carries them out.
var checks = map[string]func(){
	"objects":         checkObjects,
	"apply":           checkApply,
	"watching":        checkWatching,
	"informer":        checkInformer,
	"dynamic":         checkDynamic,
	"discovery":       checkDiscovery,
	"leader_election": checkLeaderElection,
}

func main() {
	if len(os.Args) == 1 {
		fmt.Println(version("k8s.io/client-go"))
		return
	}
	carryOut, found := checks[os.Args[1]]
	if !found {
		fmt.Fprintf(os.Stderr, "no check %s; there are: %v\n", os.Args[1], slices.Sorted(maps.Keys(checks)))
		os.Exit(2)
	}
	carryOut()
}

// version returns the version of a module that this program was built with.
func version(path string) string {
	build, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	for _, module := range build.Deps {
		if module.Path == path {
			if module.Replace != nil {
				module = module.Replace
			}
			return module.Version
		}
	}
	return ""
}

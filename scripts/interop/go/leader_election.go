package main

import (
	"context"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
)

const electionSpace = "election"

// candidate runs for the lease until its context ends, and sends its name when it leads.
func candidate(ctx context.Context, client kubernetes.Interface, name string, leads chan<- string) {
	lock := must(resourcelock.New(resourcelock.LeasesResourceLock, electionSpace, "leader",
		client.CoreV1(), client.CoordinationV1(), resourcelock.ResourceLockConfig{Identity: name}))
	elector := must(leaderelection.NewLeaderElector(leaderelection.LeaderElectionConfig{
		Lock: lock, LeaseDuration: 3 * time.Second, RenewDeadline: 2 * time.Second, RetryPeriod: 200 * time.Millisecond,
		ReleaseOnCancel: true,
		Callbacks: leaderelection.LeaderCallbacks{
			OnStartedLeading: func(context.Context) { leads <- name },
			OnStoppedLeading: func() {},
		},
	}))
	go elector.Run(ctx)
}

// checkLeaderElection has one candidate lead, and another one take over.
func checkLeaderElection() {
	client := typed(configured())
	ctx, cancel := inTime()
	defer cancel()
	makeNamespace(ctx, client, electionSpace)
	holder := func() string {
		lease := must(client.CoordinationV1().Leases(electionSpace).Get(ctx, "leader", metav1.GetOptions{}))
		return *lease.Spec.HolderIdentity
	}
	leads := make(chan string, 2)
	of, resign := context.WithCancel(ctx)
	candidate(of, client, "first", leads)
	check("the first candidate leads", receive("a leader", leads), "first")
	candidate(ctx, client, "second", leads)
	check("the lease says so", holder(), "first")
	renewed := must(client.CoordinationV1().Leases(electionSpace).Get(ctx, "leader", metav1.GetOptions{})).Spec.RenewTime
	until("and is renewed", func() bool {
		lease := must(client.CoordinationV1().Leases(electionSpace).Get(ctx, "leader", metav1.GetOptions{}))
		return lease.Spec.RenewTime.After(renewed.Time)
	})
	check("by the first", holder(), "first")
	resign()
	check("the second leads when the first resigns", receive("a leader", leads), "second")
	check("the lease says that, too", holder(), "second")
}

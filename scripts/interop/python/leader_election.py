"""The client's own leader election, by a Lease: one leads, and another takes over when its lease has run out."""

from kubernetes import client
from kubernetes.leaderelection.electionconfig import Config
from kubernetes.leaderelection.leaderelection import LeaderElection
from kubernetes.leaderelection.resourcelock.leaselock import LeaseLock
from support import check, create_namespace, until

SPACE, NAME = "election", "leader"
create_namespace(SPACE)


def nothing():
    """There is no work to do for a leader of a check."""


def candidate(identity):
    """One who wants to lead."""
    lock = LeaseLock(NAME, SPACE, identity)
    return LeaderElection(Config(lock, 4, 3, 1, nothing, nothing))


def holder():
    """Who leads."""
    return client.CoordinationV1Api().read_namespaced_lease(NAME, SPACE).spec.holder_identity


first, second = candidate("first"), candidate("second")
check("the first candidate leads", first.acquire(), True)
check("the lease says so", holder(), "first")
check("the second does not lead", second.try_acquire_or_renew(), False)
check("the first renews", first.try_acquire_or_renew(), True)
check("and still leads", holder(), "first")
until("the second takes over when the lease has run out", second.try_acquire_or_renew)
check("the lease says that, too", holder(), "second")
check("the first does not lead any more", first.try_acquire_or_renew(), False)

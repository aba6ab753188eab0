"""The errors and warnings of this package, but for those of the control API."""


class FakeserverError(Exception):
    """An error of this package."""


class UsageError(FakeserverError, ValueError):
    """An argument that cannot be used; the message says which, and what is needed."""


class BinaryNotFoundError(FakeserverError):
    """A program, `fakeserver` or `conformance`, is neither named, installed nor on the `PATH`."""


class StartError(FakeserverError):
    """The server did not start; the message has its command line and what it wrote to standard error."""


class ServerEndedError(FakeserverError):
    """The server ended before it was closed; the message has its status and what it wrote to standard error."""


class ObjectRefusedError(FakeserverError):
    """The server refused an object; the message names the object and has the server's reason."""


class FaultRefusedError(FakeserverError):
    """The server refused a fault; the message has the server's reason, which names the field."""


class SurviveError(FakeserverError):
    """`conformance survive` could not run the plans; the message has its command line and its reason."""


class FakeserverWarning(UserWarning):
    """A use of this package that is likely a mistake: a fault that cannot fire yet, a marker that has no effect."""


class MissingExtraError(FakeserverError, ImportError):
    """A client library is not installed; the message has the command that installs it."""

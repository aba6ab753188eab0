"""Builds all candidates at once, without those that do not compile."""

import json
import os
import subprocess

import listing
import switches

# As tests are compiled, but that the workspace's own code is optimized a little: it runs several times quicker.
OPTIMIZED = ("informer", "fakeserver", "conformance")
# Each round drops the mutants with errors; errors of a later phase of the compiler only show when those are gone.
ROUNDS_MAX = 20


class BuildError(Exception):
    """The tree cannot be built, and no mutant is the reason."""


def errors(messages):
    """Returns the texts of the errors that the compiler printed."""
    compiler = (message["message"] for message in messages if message["reason"] == "compiler-message")
    return "".join(message["rendered"] for message in compiler if message["level"] == "error")


class Builder:
    """Writes the tree and builds it until everything that is left compiles."""

    def __init__(self, root, work, count, say):
        self.root, self.copy, self.target = root, work / "source", work / "build"
        self.count, self.say = count, say
        # The numbers of mutants that do not compile, each with the reason.
        self.not_viable = {}

    def cargo(self, *words):
        configuration = [f"--config=profile.dev.package.{package}.opt-level=1" for package in OPTIMIZED]
        environment = dict(os.environ, CARGO_INCREMENTAL="0")
        # Lints have nothing to say here.
        environment.pop("RUSTC_WORKSPACE_WRAPPER", None)
        command = ["cargo", *words, "--locked", "--message-format=json", *configuration]
        command += ["--manifest-path", str(self.copy / "Cargo.toml"), "--target-dir", str(self.target)]
        result = subprocess.run(command, capture_output=True, text=True, env=environment)
        messages = [json.loads(line) for line in result.stdout.splitlines() if line.startswith("{")]
        return result, messages

    def build(self, strata):
        """Builds until all candidates compile, and returns the programs of the tests by their names."""
        switches.copy_sources(self.root, self.copy)
        for _ in range(ROUNDS_MAX):
            mutants = listing.candidates(strata, self.not_viable)
            refused = switches.write_tree(self.root, self.copy, mutants, self.count)
            if refused:
                self.not_viable.update(dict.fromkeys(refused, "no form with a switch"))
                continue
            result, messages = self.cargo("build", "-p", "conformance")
            dropped = self.drop(messages)
            if dropped:
                self.say(f"{len(dropped)} of {len(mutants)} candidates do not compile; building without them")
            elif result.returncode != 0:
                raise BuildError(errors(messages) + result.stderr)
            else:
                return self.programs()
        raise BuildError(f"mutants that do not compile were left after {ROUNDS_MAX} rounds")

    def drop(self, messages):
        """Attributes the errors of a build to mutants, and notes those as not viable."""
        dropped = {}
        texts = {}
        for message in messages:
            if message["reason"] != "compiler-message" or message["message"]["level"] != "error":
                continue
            error = message["message"]
            code = (error["code"] or {}).get("code") or error["message"]
            for number in self.blamed(error["spans"], texts):
                dropped.setdefault(number, code)
        self.not_viable.update(dropped)
        return dropped

    def blamed(self, spans, texts):
        """Returns the mutants of the first place that has any: the error's own, another of its places, its function."""
        spans = [self.origin(span) for span in sorted(spans, key=lambda span: not span["is_primary"])]
        spans = [span for span in spans if span is not None]
        for span in spans:
            path = self.copy / span["file_name"]
            if path not in texts:
                text = path.read_bytes()
                texts[path] = (text, switches.marks(text))
        for span in spans:
            _, ranges = texts[self.copy / span["file_name"]]
            start, end = span["byte_start"], span["byte_end"]
            hit = [number for low, high, number in ranges if low <= start and end <= high]
            if hit:
                return hit
        for span in spans:
            text, ranges = texts[self.copy / span["file_name"]]
            start, end = span["byte_start"], span["byte_end"]
            around = switches.function_at(text, start) or (start, end)
            hit = [number for low, high, number in ranges if around[0] <= low and high <= around[1]]
            if hit:
                return hit
        return []

    def origin(self, span):
        """Returns the place in informer/src of a span, that of the macro's use if it is in one; None if elsewhere."""
        while span and not span["file_name"].startswith("informer/src/"):
            span = (span.get("expansion") or {}).get("span")
        return span

    def programs(self):
        words = ["test", "--no-run", "-p", "informer", "-p", "conformance"]
        result, messages = self.cargo(*words)
        if result.returncode != 0:
            raise BuildError(errors(messages) + result.stderr)
        programs = {"conformance": self.target / "debug/conformance"}
        for message in messages:
            if message["reason"] != "compiler-artifact" or not message["executable"]:
                continue
            package = message["manifest_path"].split("/")[-2]
            if message["profile"]["test"]:
                kind = "lib" if "lib" in message["target"]["kind"] else message["target"]["name"]
                programs[f"{package} {kind}"] = message["executable"]
        return programs

#!/usr/bin/env python3
"""Measures what each typed kind costs a program to compile: processor seconds of release builds of the program alone.

  scripts/compile-cost.py --rounds 3
  scripts/compile-cost.py --informer /tmp/before/informer --note before --output benches/results/compile-cost.csv

Generates four programs, with shared informers and with kube-runtime's reflectors, of one kind and of ten, and builds their
dependencies once, all with opt-level 3. Measured is the processor time of cargo, the compiler and the linker for each
program; other work on the machine hardly changes it. Rows are appended to the output.
"""

import argparse
import resource
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
KINDS = [
    "core::v1::Pod",
    "core::v1::Service",
    "core::v1::ConfigMap",
    "core::v1::Secret",
    "core::v1::Node",
    "apps::v1::Deployment",
    "apps::v1::ReplicaSet",
    "apps::v1::StatefulSet",
    "apps::v1::DaemonSet",
    "batch::v1::Job",
]
COUNTS = (1, len(KINDS))
# A program with all dependencies, which is built first.
DEPENDENCIES = "dependencies"

WORKSPACE = """[workspace]
resolver = "3"
members = [{members}]

[profile.release]
opt-level = 3
"""

# The same dependencies for all, so that cargo chooses the same features, and does not build them again.
PACKAGE = """[package]
name = "{name}"
version = "0.0.0"
edition = "2024"

[dependencies]
informer = {{ path = "{informer}", default-features = false, features = ["http"] }}
kube-runtime = {{ version = "5.0.0", default-features = false }}
futures = {{ version = "0.3.34", default-features = false, features = ["std"] }}
k8s-openapi = {{ version = "0.29.0", default-features = false, features = ["v1_36"] }}
kube = {{ version = "5.0.0", default-features = false, features = ["client"] }}
tokio = {{ version = "1.54", features = ["macros", "rt-multi-thread"] }}
"""

# Each caches the objects of a kind, hears of changes, and reads.
PROGRAMS = {
    "informer": """use std::time::Duration;

use informer::{HandlerFuncs, LabelSelector, Scope, SharedInformer};

macro_rules! cache {
    ($client:expr, $kind:ty) => {
        let informer = SharedInformer::<$kind>::new($client.clone(), Scope::All);
        let handler = HandlerFuncs::new()
            .with_add(|object, _| println!("{}", object.key()))
            .with_delete(|object| println!("{}", object.key()));
        informer.add_handler(handler).detach();
        informer.start();
        informer.wait_for_cache_sync(Duration::from_secs(60)).await.unwrap();
        println!("{}", informer.lister().list(&LabelSelector::everything()).unwrap().len());
    };
}
""",
    "kube-runtime": """use futures::StreamExt;
use kube::{Api, ResourceExt};
use kube_runtime::{WatchStreamExt, reflector, watcher};

macro_rules! cache {
    ($client:expr, $kind:ty) => {
        let (reader, writer) = reflector::store();
        let stream = watcher(Api::<$kind>::all($client.clone()), watcher::Config::default());
        let stream = stream.default_backoff().reflect(writer).applied_objects();
        tokio::spawn(stream.for_each(|object| async move {
            if let Ok(object) = object {
                println!("{}", object.name_any());
            }
        }));
        reader.wait_until_ready().await.unwrap();
        println!("{}", reader.state().len());
    };
}
""",
}

MAIN = """
#[tokio::main]
async fn main() {{
    let client = kube::Client::try_default().await.unwrap();
{caches}}}
"""


def write_programs(directory, informer):
    """Writes the workspace; returns the programs as pairs of a client and a number of kinds."""
    programs = [(client, count) for client in PROGRAMS for count in COUNTS]
    names = [name_of(*program) for program in programs]
    members = ", ".join(f'"{name}"' for name in [DEPENDENCIES, *names])
    directory.mkdir(parents=True, exist_ok=True)
    (directory / "Cargo.toml").write_text(WORKSPACE.format(members=members))
    shutil.copy(ROOT / "Cargo.lock", directory / "Cargo.lock")
    write_package(directory / DEPENDENCIES, informer, "fn main() {}\n")
    for client, count in programs:
        kinds = [f"    cache!(client, k8s_openapi::api::{kind});\n" for kind in KINDS[:count]]
        main = PROGRAMS[client] + MAIN.format(caches="".join(kinds))
        write_package(directory / name_of(client, count), informer, main)
    return programs


def write_package(directory, informer, main):
    (directory / "src").mkdir(parents=True, exist_ok=True)
    manifest = PACKAGE.format(name=directory.name, informer=informer)
    (directory / "Cargo.toml").write_text(manifest)
    (directory / "src/main.rs").write_text(main)


def name_of(client, count):
    return f"{client}-{count}"


def build(directory, *arguments):
    command = ["cargo", "build", "--release", "--quiet", *arguments]
    if subprocess.run(command, cwd=directory).returncode != 0:
        sys.exit(f"compile-cost: {' '.join(command)} failed in {directory}")


def measure(directory, client, count):
    """Returns the processor seconds of a build of one program whose dependencies are built."""
    name = name_of(client, count)
    (directory / name / "src/main.rs").touch()
    before = processor_seconds()
    build(directory, "--package", name)
    return processor_seconds() - before


def processor_seconds():
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=3, help="builds of each program [3]")
    parser.add_argument("--informer", type=Path, default=ROOT / "informer", help="the crate to measure")
    parser.add_argument("--directory", type=Path, default=ROOT / "target/compile-cost", help="where to build")
    parser.add_argument("--note", default="", help="a word on the rows, such as the commit")
    parser.add_argument("--output", type=Path, help="a file of CSV to append to; standard output otherwise")
    options = parser.parse_args()
    programs = write_programs(options.directory, options.informer.resolve())
    build(options.directory, "--package", DEPENDENCIES)
    seconds = {program: [] for program in programs}
    for _ in range(options.rounds):
        for program in programs:
            seconds[program].append(measure(options.directory, *program))
    output = options.output.open("a") if options.output else sys.stdout
    for (client, count), samples in seconds.items():
        size = (options.directory / "target/release" / name_of(client, count)).stat().st_size
        # Other work can only add to it.
        row = [options.note, client, count, f"{min(samples):.1f}", size]
        print(",".join(map(str, row)), file=output)


if __name__ == "__main__":
    main()

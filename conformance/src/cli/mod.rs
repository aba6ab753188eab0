//! The command line.

mod traced;
mod sim;
mod steer;
mod replay;
mod trace;
mod bugs;
mod wire;
mod corpus;
mod diff;
mod server;
mod proxy;
mod columns;
mod score;
mod merge;
mod subject;
mod report;
mod threads;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// Proves that informers' caches converge to the server's state under faults.
///
/// Simulates clusters on a paused clock, each run from a seed: operations, faults, and informers that mirror the
/// cluster.
/// Checks after each run that every promise was kept.
#[derive(Debug, Parser)]
#[command(version, args_conflicts_with_subcommands = true, after_help = EXAMPLES)]
pub struct Cli {
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    sim: sim::Args,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Runs seeds and reports the results; the default command.
    #[command(after_help = EXAMPLES)]
    Sim(sim::Args),
    /// Runs one seed or one plan again and reports the broken promises.
    #[command(after_help = REPLAY_EXAMPLES)]
    Replay(replay::Args),
    /// Reads a trace that a run has written: prints it, compares it, shows it.
    #[command(after_help = TRACE_EXAMPLES)]
    Trace(Box<trace::Args>),
    /// Hunts seeded bugs and reports the checkers that catch them.
    #[command(after_help = BUGS_EXAMPLES)]
    Bugs(bugs::Args),
    /// Plays recorded conversations with a kube-apiserver against any server and reports the differences.
    ///
    /// Writes to the server: objects in namespaces named like the transcripts, and definitions. They stay there. Use a
    /// disposable server that has not seen them.
    #[command(after_help = WIRE_EXAMPLES)]
    Wire(Box<wire::Args>),
    /// Compares a server with a recorded corpus of requests, or records one.
    ///
    /// Writes to the server: the objects of the set-up, in a namespace and definitions of the corpus. They stay there. All
    /// other requests are dry runs and reads.
    #[command(subcommand, after_help = CORPUS_EXAMPLES)]
    Corpus(corpus::Command),
    /// Sends generated requests to two servers and reports the answers that differ.
    ///
    /// Writes to both: the objects that the requests are about, in namespaces and definitions named `conformance`. They
    /// stay there. All other requests are dry runs and reads.
    #[command(after_help = DIFF_EXAMPLES)]
    Diff(Box<diff::Args>),
    /// Runs a proxy in front of an API server that applies faults to its answers.
    #[command(after_help = PROXY_EXAMPLES)]
    Proxy(Box<proxy::Args>),
    /// Runs every scenario against every contestant and reports each contestant's verdict.
    #[command(after_help = SCORE_EXAMPLES)]
    Score(score::Args),
    /// Merges the reports of a campaign's partitions into one.
    ///
    /// Takes the files of `--json` of `sim`, `bugs` or `score`, or the folders of reports of `survive`, of all partitions.
    #[command(after_help = MERGE_EXAMPLES)]
    Merge(merge::Args),
    /// Runs a controller under crashes, lost answers, stale caches and more, at each of its writes.
    ///
    /// The controller is any command: it gets a kubeconfig of a server of its own, and is killed, stopped and restarted.
    #[command(version, after_help = survive::cli::examples("conformance survive"))]
    Survive(Box<survive::cli::Args>),
    /// Runs an informer as a process under test, which reports on standard output in lines of JSON.
    ///
    /// A reference for the protocol of docs/external.md, and a way to try it by hand.
    #[command(after_help = SUBJECT_EXAMPLES)]
    Subject(subject::Args),
}

const EXAMPLES: &str = "\
Examples:
  conformance                          fresh seeds, for a little under a minute at most
  conformance --seeds 200 --seed 7     the seeds 7 to 206
  conformance --profile small          smaller runs, and more of them
  conformance --minutes 30             fresh seeds for half an hour
  conformance --workers 4 --load 2     short plans on four threads each, in real time
  conformance --coverage               how often each promise could have been broken, too
  conformance --steer --minutes 30     plans that are steered towards what few runs reach
  conformance --json report.json       the figures as JSON, too
  conformance sim --seed 1 --partition 0/4 --json 0.json  a quarter of them; see conformance merge
  conformance --html pages             a page of each failing run, for a browser, in this folder
  conformance replay 7                 one seed again
Exit status: 0 if every check held, 1 if one did not, 2 if the command line is wrong or a signal ended it, 3 if --require-coverage
found something that did not occur.";

const REPLAY_EXAMPLES: &str = "\
Examples:
  conformance replay 7                           run seed 7 and tell what was broken
  conformance replay 7 --profile small           the same in another profile
  conformance replay 7 --timeline                tell what happened, and where it broke
  conformance replay 7 --trace trace.jsonl       write down what happened, while it happens
  conformance replay 7 --html run.html           the same as a page that shows belief against truth
  conformance replay 7 --shrink smaller.json     find a smaller plan that fails, too
  conformance replay --plan smaller.json         run a plan from a file
  conformance replay 7 --workers 4 --tries 50    run seed 7 on four threads, in real time, fifty times";

const TRACE_EXAMPLES: &str = "\
Examples:
  conformance replay 7 --trace trace.jsonl       write a trace
  conformance trace trace.jsonl                  print it
  conformance trace trace.jsonl --object one/pod-0 --from 2 --to 3.5
  conformance trace trace.jsonl --at 2.75        what each cache showed then, and what was true
  conformance trace trace.jsonl --html run.html  show it in a browser
  conformance trace trace.jsonl --perfetto p.json  open it at ui.perfetto.dev
  conformance trace one.jsonl --diff other.jsonl where two runs part
Exit status: 0, 1 if the runs that are compared differ, 2 if a file cannot be read.";

const BUGS_EXAMPLES: &str = "\
Examples:
  conformance bugs                              every bug, by at most 200 seeds each
  conformance bugs --bug tombstones-dropped     one of them
  conformance bugs --partition 0/4 --json 0.json  a quarter of them; see conformance merge
Exit status: 0 if all were caught, 1 if one got away, 2 if the command line is wrong.";

const WIRE_EXAMPLES: &str = "\
Examples:
  conformance wire --server http://127.0.0.1:8001             the transcripts in the program
  conformance wire --kubeconfig FILE watch-basics.json        one file
  conformance wire --kubeconfig FILE --record . case.yaml     record what the server answers
Exit status: 0 if all that was played is equal, 1 if something differs, 2 if the command line is wrong or the server is not
reached.";

const CORPUS_EXAMPLES: &str = "\
Examples:
  conformance corpus compare --server http://127.0.0.1:8001 visible.jsonl.xz --group
  conformance corpus compare --server http://127.0.0.1:8001 visible.jsonl.xz --kind pod,job --show 3
  conformance corpus compare --kubernetes-version 1.35 --differences 1.35.jsonl.xz visible.jsonl.xz --group
  conformance corpus record --server http://127.0.0.1:8001 --seed 7 --requests 5000 --output mine.jsonl.xz
Exit status: 0 if all answers are equal or recorded, 1 if one differs, 2 if it cannot run.";

const DIFF_EXAMPLES: &str = "\
Examples:
  conformance diff --left http://127.0.0.1:8001 --right http://127.0.0.1:8002
  conformance diff --left-kubeconfig FILE --right http://127.0.0.1:8001 --seed 7 --requests 20000
  conformance diff --left URL --right URL --seed 7 --request 412         one request again
  conformance diff --left URL --right URL --kind deployment --show 3     one kind, with three of its differences
Exit status: 0 if all answers are equal, 1 if one differs, 2 if it cannot run.";

const PROXY_EXAMPLES: &str = "\
Examples:
  conformance proxy --kubeconfig ~/.kube/config --faults faults.json --write-kubeconfig ./faulty
  kubectl --kubeconfig ./faulty --context fakeserver-proxy get pods --watch
  curl http://127.0.0.1:8002/_control/faults --data '{\"fault\":\"throttle\",\"match\":{\"verb\":\"list\"}}'
A line is printed for each fault that fires, and a table at the end, which is Ctrl-C.
Exit status: 0 after Ctrl-C, 1 if it is pressed twice, 2 if it cannot serve.";

const SCORE_EXAMPLES: &str = "\
Examples:
  conformance score                                        the whole matrix
  conformance score --subject kube-runtime --scenario C    one cell
  conformance score --list                                 who and what there is
  conformance score --against tcp --subject informer       over TCP, in the time that it takes
  conformance score --against tcp --subject external --command \"python3 conformance/external/informer.py\"
                                                           an informer in another language; see docs/external.md
  KUBECONFIG=FILE conformance score --against kubeconfig   a real API server, which may be thrown away
  conformance score --partition 0/4 --json 0.json          a quarter of the scenarios; see conformance merge
  conformance score --json score.json                      the cells as JSON, too; --force replaces an old file
Exit status: 0 if every cell holds that has to, 1 if one does not, 2 if the command line is wrong.";

const MERGE_EXAMPLES: &str = "\
Examples:
  conformance sim --seed 1 --seeds 4000 --partition 0/2 --json 0.json       on one machine
  conformance sim --seed 1 --seeds 4000 --partition 1/2 --json 1.json       on another one
  conformance merge 0.json 1.json                          the report of both
  conformance merge --json all.json reports/*.json         the same as a file, too
  conformance merge --corpus corpus reports/*.json         the corpus of steered partitions as a folder, too
  conformance merge reports/*                              folders of reports of `survive`
Exit status: that of the command if one process had run it: 0, 1 if a partition fails, 3 by --require-coverage; and 2 if a
partition is missing or was not run to its end, or the reports are not those of one campaign.";

const SUBJECT_EXAMPLES: &str = "\
Examples:
  conformance score --against tcp --subject external --command 'conformance subject' --scenario half-a-line
  conformance subject --library kube-runtime        by hand, with this line on standard input:
  {\"do\":\"start\",\"server\":\"http://127.0.0.1:8001\",\"resource\":\"pods\",\"namespace\":null,\"labelSelector\":null}
Exit status: 0 after the end of its input, 2 after a command that it does not know.";

// === impl Cli ===

impl Cli {
    /// Runs the command and returns the exit status.
    pub fn run(self) -> ExitCode {
        match self.command {
            None => self.sim.run(),
            Some(Command::Sim(args)) => args.run(),
            Some(Command::Replay(args)) => args.run(),
            Some(Command::Trace(args)) => args.run(),
            Some(Command::Bugs(args)) => args.run(),
            Some(Command::Wire(args)) => args.run(),
            Some(Command::Corpus(command)) => command.run(),
            Some(Command::Diff(args)) => args.run(),
            Some(Command::Proxy(args)) => args.run(),
            Some(Command::Score(args)) => args.run(),
            Some(Command::Merge(args)) => args.run(),
            Some(Command::Survive(args)) => args.run("conformance survive"),
            Some(Command::Subject(args)) => args.run(),
        }
    }
}

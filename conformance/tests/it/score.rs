//! The scoreboard: `informer` holds, controls are noticed, and known failures of others show.
//!
//! `CONFORMANCE_SCOREBOARD=whole` fills the columns of others in every row, not in some alone.

use std::{collections::BTreeMap, env, fs, path::Path, sync::LazyLock, thread};

use conformance::{
    score::{
        self, Arena, CONTESTANTS, Cell, Contestant, Demand, Flaw, Scenario, Scoreboard, Verdict,
    },
    seed::Seed,
};

/// The rows in which every contestant runs.
static BOARD: LazyLock<Scoreboard> = LazyLock::new(|| {
    let (listed, _) = scenarios();
    run(&listed, &CONTESTANTS)
});

/// The other rows, with the contestants that have to hold.
static REST: LazyLock<Scoreboard> = LazyLock::new(|| {
    let (_, rest) = scenarios();
    let own = CONTESTANTS.into_iter().filter(|who| who.has_to_hold);
    run(&rest, &own.collect::<Vec<_>>())
});

/// Verdicts on others that are known, by the origin or the name of the scenario.
const KNOWN: &[(&str, &str, &str)] = &[
    ("A", "kube-runtime", "hot loop"),
    ("A", "kube-runtime-streaming", "ok"),
    ("B", "kube-runtime", "hot loop"),
    ("B", "kube-runtime-streaming", "hot loop"),
    ("C", "kube-runtime", "stale"),
    ("D", "kube-runtime", "stale"),
    ("E", "kube-runtime-shared", "hung"),
    ("E", "kube-runtime", "ok"),
    ("F", "kube-runtime", "late"),
    ("G", "kube-runtime", "hung"),
    ("H", "kube-runtime-streaming", "stale"),
    // Half a line is no failure: the watch is resumed, and nothing is lost.
    ("I", "kube-runtime", "ok"),
    ("J", "kube-runtime-streaming", "hot loop"),
    ("K", "kube-runtime-streaming", "hung"),
    ("M", "kube-runtime", "lost delete"),
    ("kubernetes#140890", "kube-runtime-streaming", "hung"),
    ("kubernetes#138557", "kube-runtime-streaming", "hung"),
    ("joint", "kube-runtime", "late"),
    ("ready", "kube-runtime", "hung"),
    ("rollback", "kube-runtime", "stale"),
    ("late_cache", "kube-runtime", "impatient"),
    ("throttle", "kube-runtime", "impatient"),
    ("unobserved", "kube-runtime", "lost delete"),
    (
        "changed_during_initial_events",
        "kube-runtime-streaming",
        "stale",
    ),
    // A request without an answer is never abandoned.
    ("F28", "kube-runtime", "hung"),
];

/// The interval of the rows in which others run although nothing is known of them there.
const ROW_INTERVAL: usize = 5;

/// Returns the scenarios in which every contestant runs, and the others.
fn scenarios() -> (Vec<Scenario>, Vec<Scenario>) {
    let is_whole = match env::var("CONFORMANCE_SCOREBOARD").as_deref() {
        Ok("whole") => true,
        Ok(other) => panic!("CONFORMANCE_SCOREBOARD is `whole` or not set, not `{other}`"),
        Err(_) => false,
    };
    let is_known = |scenario: &Scenario| {
        let mut known = KNOWN.iter();
        known.any(|(name, ..)| *name == scenario.name || *name == scenario.origin)
    };
    let (listed, rest): (Vec<_>, Vec<_>) =
        score::scenarios()
            .into_iter()
            .enumerate()
            .partition(|(place, scenario)| {
                is_whole
                    || place % ROW_INTERVAL == 0
                    || scenario.name == "nothing"
                    || scenario.asks.demand == Demand::BeCaught
                    || is_known(scenario)
            });
    let unnumbered = |numbered: Vec<(usize, Scenario)>| {
        let scenarios = numbered.into_iter().map(|(_, scenario)| scenario);
        scenarios.collect()
    };
    (unnumbered(listed), unnumbered(rest))
}

fn run(scenarios: &[Scenario], contestants: &[Contestant]) -> Scoreboard {
    let threads = thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let arena = Arena::new(Seed::new(1), threads);
    score::run(scenarios, contestants, &arena, |_| {})
}

fn cells() -> impl Iterator<Item = &'static Cell> {
    BOARD.cells.iter().chain(&REST.cells)
}

/// The scenarios in which a client without delays does nothing special: no request fails, failures take their time by
/// themselves, or only the cache counts.
const NO_HASTE_SHOWS: &[&str] = &[
    "nothing",
    "silence",
    "rechunk",
    "end_before_initial_events_end",
    "compact",
    "rollback",
    "stale_view",
    "lagging_replica",
    "time_travel",
    "coalesce",
    "unobserved",
    "latency",
    "slow_headers",
    "unknown_fields",
    "huge_objects",
    "mixed_versions",
    "watch_list_ignored",
    "watch_list_rejected",
    "initial_events_end_missing",
    "initial_events_shuffled",
    "changed_during_initial_events",
    "stale-latest",
    "replica",
    "suspend",
    "already_exists",
    "slow_webhook",
    "discovery_unavailable",
    "one-group-away",
    "undecodable",
    "gone-before-read",
    "silent-watch",
    "continue-expired",
    "deleted-while-streaming",
    "half-a-line",
    "streaming-ends-early",
    "streaming-unknown",
    "streaming-without-end",
    "owned-forbidden",
    "many-wait",
];
/// The scenarios in which ignored deletions, or failures without a retry, do not show: no deletion is delivered by a
/// watch, a list makes up for it, or the failed write took effect.
const NO_DEAFNESS_SHOWS: &[&str] = &[
    "already_exists",
    "one-group-away",
    "list-fails",
    "watch-ends-at-once",
    "gone-as-status",
    "undecodable",
    "continue-expired",
    "streaming-unknown",
    "deleted-while-away",
    "streaming-without-end",
    "owned-forbidden",
];

fn verdict(scenario: &str, contestant: &str) -> &'static str {
    let mut rows = BOARD.scenarios.iter();
    let row = rows.find(|row| row.name == scenario || row.origin == scenario);
    let cell = BOARD.cell(row.unwrap().name, contestant).unwrap();
    cell.verdict.word()
}

#[test]
fn every_cell_that_has_to_hold_holds() {
    let wrong: Vec<&Cell> = cells().filter(|cell| !cell.is_as_it_has_to_be).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
    println!(
        "{} cells of all contestants: {:?}",
        BOARD.cells.len(),
        BOARD.counts()
    );
}

#[test]
fn every_scenario_has_an_effect_on_an_informer() {
    for board in [&*BOARD, &*REST] {
        for row in &board.scenarios {
            let is_hit = ["informer", "informer-paged"]
                .iter()
                .any(|name| board.cell(row.name, name).unwrap().verdict != Verdict::NotHit);
            assert!(is_hit, "{} happens to no informer", row.name);
        }
    }
}

#[test]
fn broken_contestants_are_found_out_wherever_they_can_be() {
    let unnoticed = |contestant| {
        let cells = BOARD.cells.iter();
        let good = cells.filter(move |cell| cell.contestant == contestant);
        let good = good.filter(|cell| cell.verdict == Verdict::Held);
        good.map(|cell| cell.scenario).collect::<Vec<_>>()
    };
    let listed = |scenarios: &[&'static str]| {
        let mut listed = scenarios.to_vec();
        listed.retain(|name| BOARD.cell(name, "broken-deaf").is_some());
        listed
    };
    assert_eq!(unnoticed("broken-hasty"), listed(NO_HASTE_SHOWS));
    assert_eq!(unnoticed("broken-deaf"), listed(NO_DEAFNESS_SHOWS));
}

#[test]
fn correct_contestants_hold_without_faults() {
    for contestant in CONTESTANTS {
        let is_broken = contestant.flaw.is_some_and(|flaw| flaw == Flaw::Deaf);
        let want = if is_broken { "stale" } else { "ok" };
        assert_eq!(
            verdict("nothing", contestant.name),
            want,
            "{}",
            contestant.name
        );
    }
}

#[test]
fn known_failures_of_kube_runtime_occur() {
    for (scenario, contestant, want) in KNOWN {
        assert_eq!(
            verdict(scenario, contestant),
            *want,
            "{scenario}, {contestant}"
        );
    }
}

/// Returns the words of a page's matrix, by scenario and contestant.
fn matrix_of(page: &str) -> BTreeMap<(String, String), String> {
    let mut rows = page
        .lines()
        .skip_while(|line| !line.starts_with("| scenario |"))
        .take_while(|line| line.starts_with('|'))
        .map(|line| line.trim_matches('|').split('|').map(str::trim));
    let contestants: Vec<&str> = rows.next().unwrap().skip(1).collect();
    let mut words = BTreeMap::new();
    for mut row in rows.skip(1) {
        let (name, _) = row.next().unwrap().split_once(' ').unwrap();
        for (contestant, word) in contestants.iter().zip(row) {
            let pair = (name.trim_matches('`').to_owned(), (*contestant).to_owned());
            words.insert(pair, word.to_owned());
        }
    }
    words
}

#[test]
fn the_page_shows_this_matrix() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/scoreboard.md");
    let page = matrix_of(&fs::read_to_string(&path).unwrap());
    let want = "conformance/docs/scoreboard.md is not current; its first lines name the command that rewrites it";
    let row_count = BOARD.scenarios.len() + REST.scenarios.len();
    assert_eq!(page.len(), row_count * CONTESTANTS.len(), "{want}");
    for cell in cells() {
        let pair = (cell.scenario.to_owned(), cell.contestant.to_owned());
        let listed = page.get(&pair).map(String::as_str);
        assert_eq!(listed, Some(cell.verdict.word()), "{pair:?}: {want}");
    }
}

#[test]
fn a_cell_is_the_same_each_time() {
    let scenarios: Vec<_> = score::scenarios()
        .into_iter()
        .filter(|scenario| ["A", "M"].contains(&scenario.origin))
        .collect();
    let again = score::run(
        &scenarios,
        &CONTESTANTS,
        &Arena::new(Seed::new(1), 1),
        |_| {},
    );
    for cell in &again.cells {
        let first = BOARD.cell(cell.scenario, cell.contestant).unwrap();
        assert_eq!((cell.at_ms, &cell.text), (first.at_ms, &first.text));
    }
    assert_eq!(again.cells.len(), 2 * CONTESTANTS.len());
}

#[test]
fn the_matrix_fits_a_terminal() {
    let text = BOARD.to_text();
    let matrix = text.lines().take_while(|line| !line.contains(": "));
    let widest = matrix.map(|line| line.chars().count()).max();
    assert!(widest.is_some_and(|widest| widest <= 100), "{text}");
}

//! The scoreboard: `informer` holds, controls are noticed, and what is known of others is seen.

use std::{fs, path::Path, sync::LazyLock, thread};

use conformance::{
    score::{self, Arena, CONTESTANTS, Cell, Scoreboard, Verdict},
    seed::Seed,
};

/// The whole matrix, run once for all tests here.
static BOARD: LazyLock<Scoreboard> = LazyLock::new(|| {
    let threads = thread::available_parallelism().map_or(1, std::num::NonZero::get);
    score::run(
        &score::scenarios(),
        &CONTESTANTS,
        &Arena::new(Seed::new(1), threads),
        |_| {},
    )
});

fn verdict(scenario: &str, contestant: &str) -> &'static str {
    let mut rows = BOARD.scenarios.iter();
    let row = rows.find(|row| row.name == scenario || row.origin == scenario);
    BOARD
        .cell(row.unwrap().name, contestant)
        .unwrap()
        .verdict
        .word()
}

#[test]
fn every_cell_that_has_to_hold_holds() {
    let wrong: Vec<&Cell> = BOARD
        .cells
        .iter()
        .filter(|cell| !cell.is_as_it_has_to_be)
        .collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
    println!("{} cells: {:?}", BOARD.cells.len(), BOARD.counts());
}

#[test]
fn every_scenario_has_an_effect_on_an_informer() {
    for row in &BOARD.scenarios {
        let is_hit = ["informer", "informer-paged"]
            .iter()
            .any(|name| BOARD.cell(row.name, name).unwrap().verdict != Verdict::NotHit);
        assert!(is_hit, "{} happens to no informer", row.name);
    }
}

#[test]
fn what_kube_runtime_is_known_to_fail_at_is_seen() {
    let known = [
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
        // Half a line is no failure: the watch goes on, and nothing is lost.
        ("I", "kube-runtime", "ok"),
        ("J", "kube-runtime-streaming", "hot loop"),
        ("K", "kube-runtime-streaming", "hung"),
        ("M", "kube-runtime", "lost delete"),
        ("joint", "kube-runtime", "late"),
        ("ready", "kube-runtime", "hung"),
        ("rollback", "kube-runtime", "stale"),
        ("throttle", "kube-runtime", "impatient"),
        ("unobserved", "kube-runtime", "lost delete"),
        (
            "changed_during_initial_events",
            "kube-runtime-streaming",
            "stale",
        ),
        // A request that is never answered is never given up.
        ("F28", "kube-runtime", "hung"),
    ];
    for (scenario, contestant, want) in known {
        assert_eq!(
            verdict(scenario, contestant),
            want,
            "{scenario}, {contestant}"
        );
    }
}

#[test]
fn the_page_shows_this_matrix() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/scoreboard.md");
    let page = fs::read_to_string(&path).unwrap();
    let is_current = page.contains(&BOARD.to_markdown_matrix());
    assert!(
        is_current,
        "conformance/docs/scoreboard.md is not current; its first lines say how to write it anew\n{}",
        BOARD.to_markdown_matrix()
    );
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

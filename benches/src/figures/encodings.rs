//! The encodings: what they save an informer, and what they cost the server.

use std::error::Error;

use super::{Figure, Options, as_f64};
use crate::{
    forms::{self, Form, ListCost},
    results::{Results, Row},
    side::Side,
    sync,
};

/// A side that asks for JSON, the same that asks for protobuf, and the largest share of time and processor time for which
/// protobuf is worth it.
const PAIRS: [(&str, Side, Side, f64); 2] = [
    (
        "compact",
        Side::CompactPaged,
        Side::CompactPagedProtobuf,
        0.8,
    ),
    ("typed", Side::TypedPaged, Side::TypedPagedProtobuf, 0.6),
];

/// Syncs from recorded answers, so that the server's time to make them does not count.
pub(super) async fn encodings(options: &Options) -> Result<Vec<Figure>, Box<dyn Error>> {
    let pods = options.largest;
    let results = sync::measure(&sync::Options {
        pods: vec![pods],
        rounds: options.rounds,
        sides: PAIRS
            .iter()
            .flat_map(|(_, json, protobuf, _)| [*json, *protobuf])
            .collect(),
        recorded: true,
        ..sync::Options::default()
    })
    .await?;
    println!("{}", results.table());
    let figures = PAIRS.iter().map(|pair| shares(&results, pods, *pair));
    let figures: Option<Vec<_>> = figures.collect();
    let figures = figures.ok_or("a side was not measured")?;
    Ok(figures.into_iter().flatten().collect())
}

/// Returns the share of the time and of the processor time of JSON that protobuf takes.
fn shares(
    results: &Results,
    pods: u32,
    (what, json, protobuf, target): (&str, Side, Side, f64),
) -> Option<[Figure; 2]> {
    let [json, protobuf] = [results.row(pods, json)?, results.row(pods, protobuf)?];
    let share = |name: &str, of: fn(&Row) -> f64| {
        Figure::at_most(
            format!("sync of {pods} pods in protobuf, {what}: {name}, of that in JSON"),
            of(protobuf) / of(json),
            target,
            "x",
        )
    };
    Some([
        share("time", |row| row.sync.as_secs_f64()),
        share("processor time", |row| row.cpu.as_secs_f64()),
    ])
}

/// Lists everything in each form that the server has.
pub(super) async fn forms(options: &Options) -> Result<Vec<Figure>, Box<dyn Error>> {
    let pods = options.largest;
    let measured = forms::measure(pods).await?;
    let rows = measured.iter();
    Ok(rows.flat_map(|row| of_form(pods, *row)).collect())
}

fn of_form(pods: u32, (form, listed): (Form, ListCost)) -> [Figure; 2] {
    let what = format!("fake server: list of {pods} pods as {}", form.name);
    [
        Figure::at_most(what.clone(), listed.elapsed.as_secs_f64(), 3.0, "s"),
        Figure::at_most(
            format!("{what}: memory meanwhile, above rest"),
            as_f64(listed.above_bytes) / 1e6,
            64.0,
            "MB",
        ),
    ]
}

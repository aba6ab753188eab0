//! The informer beside caches of other languages.

use std::error::Error;

use super::{Figure, Options, as_f64};
use crate::{
    results::{Results, Row},
    side::Side,
    sync,
};

const SIDES: [Side; 6] = [
    Side::CompactPaged,
    Side::CompactStreaming,
    Side::TypedPaged,
    Side::TypedStreaming,
    Side::ClientGo,
    Side::ClientGoProtobuf,
];
/// The number of pods of which client-go's figures are known from another machine.
const KNOWN_PODS: u32 = 50_000;

/// The cost of a sync by client-go that asks for JSON.
#[derive(Clone, Copy, Debug)]
struct ClientGo {
    place: &'static str,
    seconds: f64,
    bytes: f64,
}

/// The figures of client-go 1.36 with 50,000 pods of the same cluster, where it was run.
const KNOWN: ClientGo = ClientGo {
    place: ", on another machine",
    seconds: 5.8,
    bytes: 1_104e6,
};

/// Syncs beside client-go, or else compares with what it has taken elsewhere.
pub(super) async fn peers(options: &Options) -> Result<Vec<Figure>, Box<dyn Error>> {
    let measured = match options.client_go {
        Some(_) => options.pods.first().copied().unwrap_or(KNOWN_PODS),
        None => KNOWN_PODS,
    };
    let is_here =
        |side: &Side| options.client_go.is_some() || side.encoding_of_client_go().is_none();
    let results = sync::measure(&sync::Options {
        pods: vec![measured],
        rounds: options.rounds,
        sides: SIDES.into_iter().filter(is_here).collect(),
        client_go: options.client_go.clone(),
        ..sync::Options::default()
    })
    .await?;
    println!("{}", results.table());
    Ok(figures(&results, measured).ok_or("a side was not measured")?)
}

fn figures(results: &Results, pods: u32) -> Option<Vec<Figure>> {
    let row = |side| results.row(pods, side);
    let best = |sides: [Side; 2], of: fn(&Row) -> f64| {
        let rows = sides.into_iter().filter_map(row);
        rows.map(of).reduce(f64::min)
    };
    let seconds = |row: &Row| row.sync.as_secs_f64();
    let bytes = |row: &Row| as_f64(row.resident_bytes);
    let json = row(Side::ClientGo);
    let peer = json.map_or(KNOWN, |row| ClientGo {
        place: "",
        seconds: seconds(row),
        bytes: bytes(row),
    });
    let compact = [Side::CompactPaged, Side::CompactStreaming];
    let typed = [Side::TypedPaged, Side::TypedStreaming];
    let of = format!(
        "client-go's ({:.1} s, {:.0} MB){}",
        peer.seconds,
        peer.bytes / 1e6,
        peer.place
    );
    let mut figures = vec![
        Figure::at_least(
            format!("sync of {pods} pods, compact: times as fast as {of}"),
            peer.seconds / best(compact, seconds)?,
            8.0,
            "x",
        ),
        Figure::at_most(
            format!("sync of {pods} pods, compact: resident, of {of}"),
            best(compact, bytes)? / peer.bytes,
            1.0 / 15.0,
            "x",
        ),
        Figure::at_most(
            format!("sync of {pods} pods, typed: resident, of {of}"),
            best(typed, bytes)? / peer.bytes,
            1.5,
            "x",
        ),
    ];
    if let Some(protobuf) = row(Side::ClientGoProtobuf) {
        let what = format!("sync of {pods} pods, client-go, protobuf");
        figures.push(Figure::of_one_side(what.clone(), seconds(protobuf), "s"));
        figures.push(Figure::of_one_side(
            format!("{what}: resident"),
            bytes(protobuf) / 1e6,
            "MB",
        ));
    }
    Some(figures)
}

//! The server's creates with its state on the disk, beside the syncs of that disk.

use std::{
    env,
    error::Error,
    fs::File,
    io::{self, Write as _},
    path::Path,
    time::Instant,
};

use super::{CONNECTIONS, Figure, Options};
use crate::load;

/// The syncs of which the rate is taken.
const SYNCS: u32 = 500;
/// The bytes that are written before each: about as many as in a batch of the log.
const SYNC_BYTES: usize = 16 << 10;
/// Creates a second, on a disk that does [`SYNCS_PROMISED`].
const CREATES_PROMISED: f64 = 3_000.0;
const SYNCS_PROMISED: f64 = 2_000.0;

/// Measures creates with a sync before each answer, and without; a slower disk is promised less.
pub(super) async fn data(options: &Options) -> Result<Vec<Figure>, Box<dyn Error>> {
    let parent = options.data_folder.clone().unwrap_or_else(env::temp_dir);
    let folder = tempfile::tempdir_in(parent)?;
    let syncs = syncs_per_second(folder.path())?;
    let count = options.operations;
    let mut rates = Vec::new();
    for mode in [None, Some("interval=200ms"), Some("always")] {
        let file = folder.path().join(mode.unwrap_or("none"));
        let flags = mode.map(|mode| {
            let file = file.to_string_lossy().into_owned();
            [
                "--data".to_owned(),
                file,
                "--data-sync".to_owned(),
                mode.to_owned(),
            ]
        });
        let arguments = flags.map(Vec::from).unwrap_or_default();
        rates.push(load::creates_per_second(CONNECTIONS, count, &arguments).await?);
    }
    let what = |how: &str| format!("fake server: creates over {CONNECTIONS} connections, {how}");
    let target = CREATES_PROMISED * (syncs / SYNCS_PROMISED).min(1.0);
    Ok(vec![
        Figure::of_one_side("syncs of the disk, 16 KB each".to_owned(), syncs, "/s"),
        Figure::of_one_side(what("in memory"), rates[0], "/s"),
        Figure::of_one_side(what("--data-sync interval=200ms"), rates[1], "/s"),
        Figure::at_least(what("--data, each on the disk"), rates[2], target, "/s"),
    ])
}

/// Appends to a file and syncs it, one after the other.
#[expect(clippy::disallowed_methods, reason = "a benchmark measures real time")]
fn syncs_per_second(folder: &Path) -> io::Result<f64> {
    let mut file = File::create(folder.join("syncs"))?;
    let bytes = vec![b'x'; SYNC_BYTES];
    let start = Instant::now();
    for _ in 0..SYNCS {
        file.write_all(&bytes)?;
        file.sync_data()?;
    }
    Ok(f64::from(SYNCS) / start.elapsed().as_secs_f64())
}

//! A writer is stopped at each of its operations: what it has acknowledged is there.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex},
    time::Duration,
};

use super::disk::{Lie, MemoryDisk};
use crate::{
    Backlog, Capture, FileName, Files, SnapshotId, Source, SyncMode, Turn, Writer, WriterOptions,
    records_after, scan,
};

/// A state: texts, each of them a commit. The whole state can be replaced by an empty one.
#[derive(Debug, Default)]
struct Texts {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    texts: Vec<String>,
    backlog: Option<Arc<Backlog<String>>>,
    /// The state after each commit.
    past: BTreeMap<u64, Vec<String>>,
}

/// The state that a process reads from a disk.
#[derive(Debug, Default)]
struct RecoveredState {
    texts: Vec<String>,
    sequence: u64,
    base: Option<String>,
}

fn options() -> WriterOptions {
    WriterOptions {
        mode: SyncMode::Acknowledged,
        wait_limit: Duration::from_secs(1),
        retry: Duration::ZERO,
        queue_bytes_max: 4_000,
        log_bytes_min: 3_000,
        has_background: false,
    }
}

/// Encodes a snapshot: a line of its facts, then the texts.
fn encode(texts: &[String], sequence: u64, after: Option<&str>) -> (Vec<u8>, String) {
    let lines: Vec<&str> = texts.iter().flat_map(|text| [text, "\n"]).collect();
    let lines = lines.concat();
    let body = format!("{sequence} {}\n{lines}", after.unwrap_or("-"));
    let mark = format!("{:08x}-{sequence}", crc32fast::hash(body.as_bytes()));
    (format!("{mark} {body}").into_bytes(), mark)
}

/// Reads what is on a disk; the error says what is wrong with it.
fn recover(disk: &MemoryDisk) -> Result<RecoveredState, String> {
    let mut found = RecoveredState::default();
    let mut id = None;
    if let Some(bytes) = disk.content(FileName::Snapshot) {
        let text = String::from_utf8(bytes).map_err(|error| error.to_string())?;
        let mut lines = text.lines();
        let head: Vec<&str> = lines.next().unwrap_or_default().split(' ').collect();
        let [mark, sequence, after] = head[..] else {
            return Err(format!("the snapshot has the head {head:?}"));
        };
        found.sequence = sequence.parse().map_err(|_| "no number".to_owned())?;
        found.texts = lines.map(str::to_owned).collect();
        let after = Some(after.to_owned()).filter(|after| after != "-");
        let (expected, _) = encode(&found.texts, found.sequence, after.as_deref());
        if expected != text.as_bytes() {
            return Err("the snapshot was torn".to_owned());
        }
        id = Some(SnapshotId {
            mark: mark.to_owned(),
            sequence: found.sequence,
            after,
        });
    }
    if let Some(bytes) = disk.content(FileName::Log) {
        let scanned = scan(&bytes).map_err(|damage| damage.to_string())?;
        for record in records_after(&scanned, id.as_ref())? {
            let text = String::from_utf8(record.payload.to_vec());
            found.texts.push(text.map_err(|error| error.to_string())?);
            found.sequence = record.sequence;
        }
        found.base = Some(scanned.base.clone());
    }
    Ok(found)
}

// === impl Texts ===

impl Texts {
    fn commit(&self, text: &str) {
        let mut state = self.state.lock().unwrap();
        state.texts.push(text.to_owned());
        let (backlog, revision) = (state.backlog.clone().unwrap(), state.texts.len() as u64);
        backlog.push(text.to_owned(), text.len(), revision);
        state.remember(&backlog);
    }

    fn replace(&self) {
        let mut state = self.state.lock().unwrap();
        state.texts.clear();
        let backlog = state.backlog.clone().unwrap();
        backlog.replace();
        state.remember(&backlog);
    }
}

impl State {
    fn remember(&mut self, backlog: &Backlog<String>) {
        let texts = self.texts.clone();
        self.past.insert(backlog.position().0, texts);
    }
}

impl Source for Texts {
    type Commit = String;

    fn encode(&self, commit: &String, out: &mut Vec<u8>) {
        out.extend_from_slice(commit.as_bytes());
    }

    fn capture(&self, after: Option<&str>) -> Capture {
        let state = self.state.lock().unwrap();
        let (sequence, epoch) = state.backlog.as_ref().unwrap().position();
        let (bytes, mark) = encode(&state.texts, sequence, after);
        Capture {
            bytes,
            id: SnapshotId {
                mark,
                sequence,
                after: after.map(str::to_owned),
            },
            revision: state.texts.len() as u64,
            epoch,
        }
    }
}

/// Commits at random on `disk`, with `failures` in a thousand operations, until the disk dies or `turns` are over, and checks
/// what the next process finds.
fn run(disk: &MemoryDisk, seed: u64, turns: usize, failures: u16) -> Result<(), String> {
    let mut random = fastrand::Rng::with_seed(seed);
    let found = recover(disk)?;
    let texts = Arc::new(Texts::default());
    let backlog = Backlog::new(found.sequence, &options());
    {
        let mut state = texts.state.lock().unwrap();
        state.texts = found.texts;
        state.backlog = Some(Arc::clone(&backlog));
        state.remember(&backlog);
    }
    let files = Files::new(Arc::new(disk.clone()), found.base);
    let (source, waiting) = (Arc::clone(&texts), Arc::clone(&backlog));
    // As a server begins: with a snapshot of all that it has found.
    if let Ok(mut writer) = Writer::begin(files, source, waiting, options(), None) {
        disk.fail(failures);
        for turn in 0..turns {
            for number in 0..random.usize(..4) {
                let length = random.usize(..700);
                texts.commit(&format!("{seed}-{turn}-{number} {}", "x".repeat(length)));
            }
            if random.u8(..60) == 0 {
                texts.replace();
            }
            if random.u8(..80) == 0 {
                // The disk is full for a while.
                disk.limit(if random.bool() { 2_000 } else { usize::MAX });
            }
            writer.turn();
        }
        if disk.operations().is_multiple_of(3) {
            disk.limit(usize::MAX);
            disk.fail(0);
            while writer.turn() == Turn::Worked {}
        }
    }
    let acknowledged = backlog.durability().durable().sequence;
    let found = recover(&disk.crash())?;
    if found.sequence < acknowledged {
        return Err(format!(
            "{acknowledged} commits were acknowledged, and {} are there",
            found.sequence
        ));
    }
    let state = texts.state.lock().unwrap();
    match state.past.get(&found.sequence) {
        Some(then) if *then == found.texts => Ok(()),
        Some(_) => Err(format!("commit {} has another state", found.sequence)),
        None => Err(format!("commit {} never was", found.sequence)),
    }
}

/// Runs a process after another, each of which dies at some operation.
fn survive(seed: u64, lie: Lie) -> Result<(), String> {
    let mut random = fastrand::Rng::with_seed(seed);
    let mut disk = MemoryDisk::new(seed, lie);
    for life in 0..3 {
        disk.die_at(random.usize(..200));
        let failures = if random.bool() { 0 } else { 100 };
        run(&disk, seed * 10 + life, 60, failures)?;
        disk = disk.crash();
    }
    Ok(())
}

#[test]
fn nothing_acknowledged_is_lost_whichever_operation_is_the_last() {
    for operation in 0..400 {
        for seed in 0..2 {
            let disk = MemoryDisk::new(seed, Lie::None);
            disk.die_at(operation);
            let failures = if seed == 0 { 0 } else { 100 };
            let survived = run(&disk, seed, 120, failures);
            survived.unwrap_or_else(|why| panic!("operation {operation}, seed {seed}: {why}"));
        }
    }
}

#[test]
fn nothing_acknowledged_is_lost_in_a_life_after_another() {
    for seed in 0..150 {
        survive(seed, Lie::None).unwrap_or_else(|why| panic!("seed {seed}: {why}"));
    }
}

#[test]
fn an_acknowledgement_before_the_sync_is_caught() {
    for lie in [Lie::Files, Lie::Names] {
        let caught = (0..100).filter(|seed| survive(*seed, lie).is_err());
        assert!(caught.count() > 10, "{lie:?}");
    }
}

#[test]
fn a_full_disk_stalls_the_log_until_there_is_room() {
    let disk = MemoryDisk::new(1, Lie::None);
    let texts = Arc::new(Texts::default());
    let backlog = Backlog::new(0, &options());
    texts.state.lock().unwrap().backlog = Some(Arc::clone(&backlog));
    let files = Files::new(Arc::new(disk.clone()), None);
    let (source, waiting) = (Arc::clone(&texts), Arc::clone(&backlog));
    let mut writer = Writer::begin(files, source, waiting, options(), None).unwrap();
    let durable = || backlog.durability().durable();

    texts.commit("first");
    assert_eq!(writer.turn(), Turn::Worked);
    assert_eq!((durable().sequence, durable().revision), (1, 1));
    disk.limit(0);
    texts.commit("second");
    assert_eq!(writer.turn(), Turn::Failed);
    let stall = backlog.durability().stall().unwrap();
    assert!(stall.contains("the log cannot be written"), "{stall}");
    assert_eq!(durable().sequence, 1);
    // More than the queue takes: a snapshot has to have it.
    for number in 0..10 {
        texts.commit(&format!("{number} {}", "x".repeat(900)));
    }
    assert_eq!(writer.turn(), Turn::Failed);
    disk.limit(usize::MAX);
    while writer.turn() == Turn::Worked {}
    assert_eq!((durable().sequence, durable().stall), (12, None));
    assert_eq!(recover(&disk.crash()).unwrap().sequence, 12);
    backlog.stop();
    texts.replace();
    assert_eq!(
        durable().revision,
        0,
        "the new state is not on the disk yet"
    );
    while writer.turn() == Turn::Worked {}
    assert!(recover(&disk.crash()).unwrap().texts.is_empty());
    writer.close().unwrap();
    let left = disk.names();
    assert_eq!(left, [FileName::Snapshot], "the snapshot is the state");
}

//! Snapshots as lines of JSON.

use std::{collections::BTreeSet, path::Path};

use bytes::Bytes;
use fakeserver_datalog::SnapshotId;
use fakeserver_kinds::storage_of;
use fakeserver_value::revision::Revision;
use fakeserver_versions::KubernetesVersion;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Value, value::RawValue};
use sha2::{Digest, Sha256};

use super::{SavedObject, Snapshot, SnapshotError};
use crate::{entropy::Position, store::ObjectKey};

const FORMAT: &str = "fakeserver.snapshot";
/// The version that is written. Older ones can be read.
const VERSION: u64 = 1;

/// The first line.
#[derive(Debug, Serialize, Deserialize)]
struct Head {
    format: String,
    version: u64,
    #[serde(default = "first_release")]
    kubernetes: Vec<String>,
    revision: u64,
    time: Timestamp,
    seed: u64,
    drawn: Position,
    objects: usize,
    /// Only in the file of a server.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    log: Option<LogPlace>,
}

/// The place of a snapshot in the log of a server.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct LogPlace {
    /// The number of the last commit in the snapshot.
    pub(super) sequence: u64,
    /// The checksum of the snapshot whose log it replaces.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) after: Option<String>,
}

/// The fields of the first line that are checked before the others are read.
#[derive(Debug, Deserialize)]
struct Claim {
    format: String,
    version: u64,
}

#[derive(Debug, Serialize, Deserialize)]
struct Line<'a> {
    group: &'a str,
    resource: &'a str,
    #[serde(
        rename = "apiVersion",
        default,
        skip_serializing_if = "Option::is_none"
    )]
    stored_version: Option<String>,
    #[serde(borrow)]
    object: &'a RawValue,
}

/// The parts of an object's key.
#[derive(Debug, Deserialize)]
struct Identity {
    metadata: Metadata,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Metadata {
    name: String,
    namespace: Option<String>,
    resource_version: String,
}

#[derive(Debug, Serialize, Deserialize)]
struct End {
    end: bool,
    sha256: String,
}

/// Returns the release that wrote a file which names none: until there were several, all servers were of it.
fn first_release() -> Vec<String> {
    vec![KubernetesVersion::DEFAULT.release().to_owned()]
}

/// Returns the contents of a file, and their checksum.
pub(super) fn print(snapshot: &Snapshot, log: Option<LogPlace>) -> (Vec<u8>, String) {
    let mut bytes = Vec::new();
    let head = Head {
        format: FORMAT.to_owned(),
        version: VERSION,
        kubernetes: snapshot.kubernetes.clone(),
        revision: snapshot.revision.get(),
        time: snapshot.time,
        seed: snapshot.seed,
        drawn: snapshot.drawn,
        objects: snapshot.objects.len(),
        log,
    };
    print_line(&mut bytes, &head);
    for kept in &snapshot.objects {
        let object = std::str::from_utf8(&kept.json).expect("stored objects are JSON");
        let resource = kept.key.resource();
        let line = Line {
            group: resource.group(),
            resource: resource.resource(),
            stored_version: kept.stored_version.clone(),
            object: serde_json::from_str(object).expect("stored objects are JSON"),
        };
        print_line(&mut bytes, &line);
    }
    let sha256 = digest(&bytes);
    let end = End {
        end: true,
        sha256: sha256.clone(),
    };
    print_line(&mut bytes, &end);
    (bytes, sha256)
}

fn print_line(bytes: &mut Vec<u8>, line: &impl Serialize) {
    let start = bytes.len();
    serde_json::to_writer(&mut *bytes, line).expect("lines serialize into memory");
    join_lines(&mut bytes[start..]);
    bytes.push(b'\n');
}

/// Replaces the line breaks between the parts of JSON by spaces: the data of controller revisions are stored as they were sent.
pub(super) fn join_lines(json: &mut [u8]) {
    while let Some(place) = memchr::memchr2(b'\n', b'\r', json) {
        json[place] = b' ';
    }
}

/// Reads the contents of `file`, and the facts by which a log knows them.
pub(super) fn parse(file: &Path, bytes: &[u8]) -> Result<(Snapshot, SnapshotId), SnapshotError> {
    let damaged = |line: usize, reason: String| SnapshotError::Damaged {
        file: file.to_owned(),
        line,
        reason,
    };
    let mut lines = bytes.split_inclusive(|byte| *byte == b'\n');
    let head = lines.next().unwrap_or_default();
    let head = read_head(file, head)?;

    let mut objects = Vec::new();
    let mut keys = BTreeSet::new();
    let mut number = 1;
    for line in lines.by_ref().take(head.objects) {
        number += 1;
        let kept = read_object(line).map_err(|reason| damaged(number, reason))?;
        if kept.revision.get() > head.revision {
            let reason = format!(
                "the object is of revision {}, and the snapshot of {}",
                kept.revision, head.revision
            );
            return Err(damaged(number, reason));
        }
        if !keys.insert(kept.key.clone()) {
            let reason = format!("there are two objects {}", kept.key);
            return Err(damaged(number, reason));
        }
        objects.push(kept);
    }
    number += 1;
    let last = lines
        .next()
        .ok_or_else(|| damaged(number, "the file breaks off: its end is missing".to_owned()))?;
    let end: End = serde_json::from_slice(last)
        .map_err(|_| damaged(number, "this should be the end of the file".to_owned()))?;
    let before = bytes.len() - lines.by_ref().map(<[u8]>::len).sum::<usize>() - last.len();
    if !end.end || end.sha256 != digest(&bytes[..before]) {
        let reason = "the file was changed after it was written: its checksum is another";
        return Err(damaged(number, reason.to_owned()));
    }
    if before + last.len() != bytes.len() {
        return Err(damaged(
            number + 1,
            "there is something behind the end".to_owned(),
        ));
    }
    let (sequence, after) = head.log.map_or((0, None), |log| (log.sequence, log.after));
    let id = SnapshotId {
        mark: end.sha256,
        sequence,
        after,
    };
    let snapshot = Snapshot {
        kubernetes: head.kubernetes,
        revision: Revision::new(head.revision),
        time: head.time,
        seed: head.seed,
        drawn: head.drawn,
        objects,
    };
    Ok((snapshot, id))
}

/// Returns whether a snapshot may begin with these bytes, or is cut off within them.
pub(super) fn is_header(head: &[u8]) -> bool {
    let begin = format!("{{\"format\":\"{FORMAT}\"");
    let begin = begin.as_bytes();
    head.starts_with(begin) || begin.starts_with(head)
}

fn read_head(file: &Path, line: &[u8]) -> Result<Head, SnapshotError> {
    let damaged = |reason: String| SnapshotError::Damaged {
        file: file.to_owned(),
        line: 1,
        reason,
    };
    let claim = serde_json::from_slice::<Claim>(line).ok();
    let claim = claim.filter(|claim| claim.format == FORMAT);
    let Some(claim) = claim else {
        return Err(damaged("this is no snapshot of a fakeserver".to_owned()));
    };
    if claim.version > VERSION {
        return Err(SnapshotError::TooNew {
            file: file.to_owned(),
            found: claim.version,
            supported: VERSION,
        });
    }
    serde_json::from_slice(line).map_err(|error| damaged(error.to_string()))
}

fn read_object(line: &[u8]) -> Result<SavedObject, String> {
    let line: Line<'_> = serde_json::from_slice(line).map_err(|error| error.to_string())?;
    saved_object(line.group, line.resource, line.stored_version, line.object)
}

/// Returns an object that is stored as `object`, with its key and its version.
pub(super) fn saved_object(
    group: &str,
    resource: &str,
    stored_version: Option<String>,
    object: &RawValue,
) -> Result<SavedObject, String> {
    let to_text = |error: serde_json::Error| error.to_string();
    // Values that are nested too deeply are passed over as text, and cannot be restored.
    serde_json::from_str::<Value>(object.get()).map_err(to_text)?;
    let identity: Identity = serde_json::from_str(object.get()).map_err(to_text)?;
    let metadata = identity.metadata;
    let revision = metadata.resource_version.parse();
    let revision = revision.map_err(|error| format!("metadata.resourceVersion: {error}"))?;
    let resource = storage_of(group, resource);
    Ok(SavedObject {
        key: ObjectKey::new(resource, metadata.namespace.as_deref(), &metadata.name),
        revision: Revision::new(revision),
        stored_version,
        json: Bytes::copy_from_slice(object.get().as_bytes()),
    })
}

fn digest(bytes: &[u8]) -> String {
    use std::fmt::Write;

    let mut hex = String::with_capacity(64);
    for byte in Sha256::digest(bytes) {
        write!(hex, "{byte:02x}").expect("strings take what is written");
    }
    hex
}

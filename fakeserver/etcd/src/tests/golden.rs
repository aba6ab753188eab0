//! The databases that kube-apiserver 1.35.6 and 1.36.2 wrote, and the lists that they answered.

use std::{fs, io::Read, sync::LazyLock};

use fakeserver_versions::KubernetesVersion;
use lzma_rust2::XzReader;
use serde_json::Value;

/// The databases, each with the version that wrote it.
pub(super) static DATABASES: LazyLock<Vec<Golden>> =
    LazyLock::new(|| ["1.35", "1.36"].map(Golden::read).into());

/// A database, and what its server answered.
pub(super) struct Golden {
    pub(super) kubernetes: KubernetesVersion,
    pub(super) file: Vec<u8>,
    /// Lists by their paths.
    pub(super) answers: Value,
}

// === impl Golden ===

impl Golden {
    fn read(version: &str) -> Self {
        let answers = unpacked(&format!("answers-{version}.json.xz"));
        Self {
            kubernetes: version.parse().unwrap(),
            file: unpacked(&format!("db-{version}.xz")),
            answers: serde_json::from_slice(&answers).unwrap(),
        }
    }
}

pub(super) fn unpacked(name: &str) -> Vec<u8> {
    let path = format!("{}/tests/golden/{name}", env!("CARGO_MANIFEST_DIR"));
    let packed = fs::read(path).unwrap();
    let mut content = Vec::new();
    let mut reader = XzReader::new(&*packed, true);
    reader.read_to_end(&mut content).unwrap();
    content
}

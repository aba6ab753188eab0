//! The embedded texts of each version.

/// The texts of a version: whole, or how they differ from those of its neighbour.
pub(crate) struct Release {
    /// Its name: `1.36`.
    pub(crate) name: &'static str,
    /// The release that the texts are of: `1.36.2`, and the end of a line.
    pub(crate) number: &'static str,
    /// The texts, in the order of [`File`].
    pub(crate) texts: [&'static str; FILES],
}

/// A file that every version has.
#[derive(Clone, Copy, Debug)]
pub(crate) enum File {
    Types,
    Structure,
    Discovery,
    Columns,
    InitialObjects,
    Gates,
    Flags,
}

const FILES: usize = 7;

/// Embeds the texts of a version, in files with this ending.
macro_rules! release {
    ($name:literal, $end:literal) => {
        Release {
            name: $name,
            number: include_str!(concat!("../data/", $name, "/release.txt")),
            texts: [
                include_str!(concat!("../data/", $name, "/types.json", $end)),
                include_str!(concat!("../data/", $name, "/openapi-structure.json", $end)),
                include_str!(concat!("../data/", $name, "/discovery.json", $end)),
                include_str!(concat!("../data/", $name, "/table-columns.json", $end)),
                include_str!(concat!("../data/", $name, "/initial-objects.json", $end)),
                include_str!(concat!("../data/", $name, "/feature-gates.txt", $end)),
                include_str!(concat!(
                    "../data/",
                    $name,
                    "/kube-apiserver-flags.txt",
                    $end
                )),
            ],
        }
    };
}

/// The number of versions.
pub(crate) const COUNT: u8 = 7;

/// The place of the version whose texts are whole.
pub(crate) const BASE: u8 = 5;

/// The versions, from old to new.
pub(crate) static RELEASES: [Release; COUNT as usize] = [
    release!("1.31", ".diff"),
    release!("1.32", ".diff"),
    release!("1.33", ".diff"),
    release!("1.34", ".diff"),
    release!("1.35", ".diff"),
    release!("1.36", ""),
    release!("1.37", ".diff"),
];

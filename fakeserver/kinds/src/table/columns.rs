//! The columns that a real server has for each resource.

use std::{collections::BTreeMap, sync::OnceLock};

use serde_json::{Value, json};

/// Recorded from a kube-apiserver 1.36.2: name, type, format and priority of each column.
const RECORDED: &str = include_str!("../../data/table-columns.json");

/// The columns of one resource.
#[derive(Debug)]
pub struct Columns {
    /// The definitions, as a table has them.
    pub(crate) json: String,
    /// Names and types.
    pub(crate) kinds: Vec<(String, String)>,
}

type RecordedColumns = BTreeMap<String, Vec<(String, String, String, u8)>>;

struct ColumnTable {
    by_resource: BTreeMap<String, Columns>,
    /// For a resource of which nothing was recorded.
    others: Columns,
}

/// The columns of a version of a resource.
pub fn of(group: &str, version: &str, plural: &str) -> &'static Columns {
    static ALL: OnceLock<ColumnTable> = OnceLock::new();
    let all = ALL.get_or_init(ColumnTable::read);
    let name = if group.is_empty() {
        format!("{version}/{plural}")
    } else {
        format!("{group}/{version}/{plural}")
    };
    all.by_resource.get(&name).unwrap_or(&all.others)
}

// === impl ColumnTable ===

impl ColumnTable {
    fn read() -> Self {
        let recorded: RecordedColumns =
            serde_json::from_str(RECORDED).expect("the embedded columns are valid");
        let of = |columns: Vec<(&str, &str, &str, u8)>| Columns::new(&columns);
        Self {
            by_resource: recorded
                .iter()
                .map(|(resource, columns)| {
                    let columns = columns.iter().map(|(name, kind, format, priority)| {
                        (name.as_str(), kind.as_str(), format.as_str(), *priority)
                    });
                    (resource.clone(), of(columns.collect()))
                })
                .collect(),
            others: of(vec![
                ("Name", "string", "name", 0),
                ("Age", "string", "", 0),
            ]),
        }
    }
}

// === impl Columns ===

impl Columns {
    fn new(columns: &[(&str, &str, &str, u8)]) -> Self {
        let definitions = columns.iter().map(|(name, kind, format, priority)| {
            json!({
                "name": name,
                "type": kind,
                "format": format,
                "description": "",
                "priority": priority,
            })
        });
        Self {
            json: definitions.collect::<Value>().to_string(),
            kinds: columns
                .iter()
                .map(|(name, kind, ..)| ((*name).to_owned(), (*kind).to_owned()))
                .collect(),
        }
    }
}

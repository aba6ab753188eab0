//! The columns that a real server of a version of Kubernetes has for each resource.

use std::collections::BTreeMap;

use fakeserver_versions::{KubernetesVersion, PerVersion};
use serde_json::{Value, json};

/// The columns of one resource.
#[derive(Debug)]
pub struct Columns {
    /// The definitions, as a table has them.
    pub(crate) json: String,
    /// Names and types.
    pub(crate) kinds: Vec<(String, String)>,
}

/// Name, type, format and priority of each column.
type RecordedColumns = BTreeMap<String, Vec<(String, String, String, u8)>>;

struct ColumnTable {
    by_resource: BTreeMap<String, Columns>,
    /// For a resource of which nothing was recorded.
    others: Columns,
}

/// The columns of a version of a resource.
pub fn of(
    kubernetes: KubernetesVersion,
    group: &str,
    version: &str,
    plural: &str,
) -> &'static Columns {
    static ALL: PerVersion<ColumnTable> = PerVersion::new();
    let all = ALL.get_or_init(kubernetes, || {
        ColumnTable::read(&kubernetes.table_columns())
    });
    let name = if group.is_empty() {
        format!("{version}/{plural}")
    } else {
        format!("{group}/{version}/{plural}")
    };
    all.by_resource.get(&name).unwrap_or(&all.others)
}

// === impl ColumnTable ===

impl ColumnTable {
    fn read(text: &str) -> Self {
        let recorded: RecordedColumns =
            serde_json::from_str(text).expect("the embedded columns are valid");
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

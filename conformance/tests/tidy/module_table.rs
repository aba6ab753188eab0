//! The tables of modules in the `README.md` of a crate, lower layers first.

use crate::{
    markdown::{self, Part},
    tree::Tree,
};

const HEAD: &str = "| layer | module |";

/// The modules of a crate, in the order in which they may import each other: a module imports those before it.
#[derive(Debug)]
pub(crate) struct ModuleTable {
    /// The folder of the crate.
    pub(crate) folder: String,
    pub(crate) rows: Vec<Row>,
}

/// A module of a table.
#[derive(Debug)]
pub(crate) struct Row {
    pub(crate) layer: String,
    /// One segment, or more for a module within another one.
    pub(crate) path: Vec<String>,
}

// === impl ModuleTable ===

impl ModuleTable {
    /// Returns the tables of all crates whose page has one.
    pub(crate) fn all(tree: &Tree) -> Vec<Self> {
        let pages = tree.of_type("md");
        let tables = pages.filter_map(|(path, text)| {
            let folder = path.strip_suffix("/README.md")?.to_owned();
            let rows = rows(text);
            (!rows.is_empty()).then_some(Self { folder, rows })
        });
        tables.collect()
    }

    /// Returns the path of the page that has the table.
    pub(crate) fn page(&self) -> String {
        format!("{}/README.md", self.folder)
    }

    /// Returns the position of a module in the order: of its own row, or of the first one within it.
    pub(crate) fn place(&self, path: &[String]) -> Option<usize> {
        let own = self.rows.iter().position(|row| row.path == path);
        own.or_else(|| self.rows.iter().position(|row| row.path.starts_with(path)))
    }

    /// Returns the modules of the crate root, in their order.
    pub(crate) fn roots(&self) -> Vec<&str> {
        let mut roots: Vec<&str> = Vec::new();
        let mut places: Vec<(usize, &str)> = self
            .rows
            .iter()
            .filter_map(|row| Some((self.place(&row.path[..1])?, row.path[0].as_str())))
            .collect();
        places.sort_unstable();
        for (_, root) in places {
            if roots.last() != Some(&root) {
                roots.push(root);
            }
        }
        roots
    }
}

/// Returns the rows of the table of modules in a page.
fn rows(text: &str) -> Vec<Row> {
    let table = text.lines().skip_while(|line| !line.starts_with(HEAD));
    let mut layer = "";
    let mut rows = Vec::new();
    for line in table.skip(1).take_while(|line| line.starts_with('|')) {
        let cells: Vec<&str> = line.split('|').map(str::trim).collect();
        let [_, first, second, ..] = &cells[..] else {
            continue;
        };
        if !first.is_empty() {
            layer = first;
        }
        for (_, part) in markdown::parts(second) {
            if let Part::Span(path) = part {
                rows.push(Row {
                    layer: layer.to_owned(),
                    path: path.split("::").map(str::to_owned).collect(),
                });
            }
        }
    }
    rows
}

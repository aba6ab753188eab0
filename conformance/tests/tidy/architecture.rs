//! The tables of modules in `ARCHITECTURE.md` and in the READMEs of packages: one a crate, lower layers first.

use crate::{
    markdown::{self, Part},
    tree::Tree,
};

const PAGE: &str = "ARCHITECTURE.md";
const HEAD: &str = "| layer | module |";

/// The modules of a crate, in the order in which they may import each other: a module imports those before it.
#[derive(Debug)]
pub(crate) struct ModuleTable {
    /// The page that has it.
    pub(crate) page: String,
    /// The folder of the package.
    pub(crate) crate_name: String,
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
    /// The tables of the page, by the headings above them, and those of READMEs, by their folders.
    pub(crate) fn all(tree: &Tree) -> Vec<Self> {
        let readmes = tree.of_type("md").filter_map(|(path, text)| {
            let folder = path.strip_suffix("/README.md")?;
            Some(Self::on_page(path, text, Some(folder)))
        });
        let mut tables = Self::on_page(PAGE, tree.text(PAGE).unwrap_or_default(), None);
        tables.extend(readmes.flatten());
        tables
    }

    /// The tables of a page, of the package in `folder` or of those that the headings name.
    fn on_page(page: &str, text: &str, folder: Option<&str>) -> Vec<Self> {
        let mut tables: Vec<Self> = Vec::new();
        let mut heading = "";
        let mut layer = "";
        let mut is_within = false;
        for line in text.lines() {
            if let Some(name) = line.strip_prefix("## ") {
                heading = name;
            }
            if line.starts_with(HEAD) {
                is_within = true;
                tables.push(Self {
                    page: page.to_owned(),
                    crate_name: folder.unwrap_or(heading).to_owned(),
                    rows: Vec::new(),
                });
                continue;
            }
            is_within &= line.starts_with('|');
            let cells: Vec<&str> = line.split('|').map(str::trim).collect();
            let (true, [_, first, second, ..]) = (is_within, &cells[..]) else {
                continue;
            };
            if !first.is_empty() {
                layer = first;
            }
            let rows = markdown::parts(second)
                .into_iter()
                .filter_map(|(_, part)| match part {
                    Part::Span(path) => Some(Row {
                        layer: layer.to_owned(),
                        path: path.split("::").map(str::to_owned).collect(),
                    }),
                    _ => None,
                });
            tables
                .last_mut()
                .expect("a table has begun")
                .rows
                .extend(rows);
        }
        tables
    }

    /// The place of a module in the order: of its own row, or of the first one within it.
    pub(crate) fn place(&self, path: &[String]) -> Option<usize> {
        let own = self.rows.iter().position(|row| row.path == path);
        own.or_else(|| self.rows.iter().position(|row| row.path.starts_with(path)))
    }

    /// The modules of the crate root, in their order.
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

//! The folder of a corpus: plans in their text form, in files that are named by their content.
//!
//! A file is never replaced, and none is removed but those of that name, whose content is the one that the name says.

use std::{
    collections::BTreeSet,
    fs::{self, File},
    io::{ErrorKind, Write},
    path::{Path, PathBuf},
};

use crate::{partition::Partition, plan::Profile, seed::fnv1a, sim::Plan};

/// A folder of plans.
pub(super) struct Folder {
    path: PathBuf,
    /// The files of this name that were read.
    own: BTreeSet<PathBuf>,
    problems: Vec<String>,
}

// === impl Folder ===

impl Folder {
    pub(super) fn new(path: PathBuf) -> Self {
        Self {
            path,
            own: BTreeSet::new(),
            problems: Vec::new(),
        }
    }

    /// Reads the partition's own of the plans that are there, in the order of their names. Others, of another profile for instance,
    /// are left where they are.
    pub(super) fn read(&mut self, profile: Profile, partition: Partition) -> Vec<Plan> {
        let entries = match fs::read_dir(&self.path) {
            Ok(entries) => entries,
            Err(error) if error.kind() == ErrorKind::NotFound => return Vec::new(),
            Err(error) => {
                self.problems
                    .push(format!("cannot read {}: {error}", self.path.display()));
                return Vec::new();
            }
        };
        let mut paths: Vec<PathBuf> = entries
            .filter_map(|entry| Some(entry.ok()?.path()))
            .collect();
        paths.retain(|path| {
            path.extension()
                .is_some_and(|extension| extension == "json")
        });
        paths.sort();
        let mut plans = Vec::new();
        for path in paths {
            match read(&path, profile) {
                // The text decides, so that partitions may share a folder to which all of them add.
                Ok(plan) if !partition.has(&plan.to_text()) => {}
                Ok(plan) => {
                    if path
                        .file_name()
                        .is_some_and(|name| *name == *name_of("plan", &plan))
                    {
                        self.own.insert(path);
                    }
                    plans.push(plan);
                }
                Err(problem) => self.problems.push(problem),
            }
        }
        plans
    }

    /// Writes the plans that are not there. If they are what is left of all that was read, own files of others are removed. Returns
    /// what went wrong.
    pub(super) fn write<'a>(
        mut self,
        plans: impl Iterator<Item = &'a Plan>,
        is_whole: bool,
    ) -> Vec<String> {
        for plan in plans {
            let path = self.path.join(name_of("plan", plan));
            self.own.remove(&path);
            self.problems.extend(write(&path, plan).err());
        }
        if is_whole {
            for path in &self.own {
                if let Err(error) = fs::remove_file(path) {
                    self.problems
                        .push(format!("cannot remove {}: {error}", path.display()));
                }
            }
        }
        self.problems
    }
}

/// Writes a failing plan to a file of `folder`, the current one if `None`, and returns its path.
pub(super) fn write_failing(plan: &Plan, folder: Option<PathBuf>) -> Result<PathBuf, String> {
    let path = folder.unwrap_or_default().join(name_of("failed", plan));
    write(&path, plan).map(|()| path)
}

fn read(path: &Path, profile: Profile) -> Result<Plan, String> {
    let text = fs::read_to_string(path)
        .map_err(|error| format!("cannot read {}: {error}", path.display()))?;
    let plan = Plan::from_text(&text)
        .map_err(|error| format!("{} is no plan: {error}", path.display()))?;
    if plan.is_valid(profile) {
        Ok(plan)
    } else {
        let profile = profile.name();
        Err(format!(
            "{} is no plan of the profile {profile}",
            path.display()
        ))
    }
}

/// Writes a plan to a new file, unless there is one with this content.
fn write(path: &Path, plan: &Plan) -> Result<(), String> {
    let message = |error: std::io::Error| format!("cannot write {}: {error}", path.display());
    if let Some(folder) = path
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty())
    {
        fs::create_dir_all(folder).map_err(message)?;
    }
    let text = plan.to_text();
    match File::create_new(path) {
        Ok(mut file) => file.write_all(text.as_bytes()).map_err(message),
        Err(error) if error.kind() == ErrorKind::AlreadyExists => match fs::read_to_string(path) {
            Ok(old) if old == text => Ok(()),
            _ => Err(message(error)),
        },
        Err(error) => Err(message(error)),
    }
}

fn name_of(kind: &str, plan: &Plan) -> String {
    format!("{kind}-{:016x}.json", fnv1a(plan.to_text().as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seed::Seed;

    const PROFILE: Profile = Profile::Small;

    fn plan(seed: u64) -> Plan {
        Plan::draw_sized(Seed::new(seed), PROFILE)
    }

    fn names(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).unwrap();
        let mut names: Vec<String> = entries
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    #[test]
    fn kept_plans_are_written_and_dropped_ones_removed() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("corpus");
        let mut folder = Folder::new(path.clone());
        assert_eq!(folder.read(PROFILE, Partition::WHOLE), []);
        assert_eq!(folder.write([plan(1), plan(2)].iter(), true), [""; 0]);
        let mut folder = Folder::new(path.clone());
        let read = folder.read(PROFILE, Partition::WHOLE);
        assert_eq!(read.len(), 2);
        assert!(read.contains(&plan(1)) && read.contains(&plan(2)));
        // Nothing is removed if not all was run.
        assert_eq!(folder.write([plan(3)].iter(), false), [""; 0]);
        assert_eq!(names(&path).len(), 3);
        let mut folder = Folder::new(path.clone());
        folder.read(PROFILE, Partition::WHOLE);
        assert_eq!(folder.write([plan(1)].iter(), true), [""; 0]);
        assert_eq!(names(&path), [name_of("plan", &plan(1))]);
    }

    #[test]
    fn each_partition_reads_its_own_plans() {
        let place = tempfile::tempdir().unwrap();
        let plans: Vec<Plan> = (0..12).map(plan).collect();
        let written = Folder::new(place.path().to_owned()).write(plans.iter(), true);
        assert_eq!(written, [""; 0]);
        let mut read = Vec::new();
        for index in 0..3 {
            let partition = Partition::new(index, 3).unwrap();
            let mut folder = Folder::new(place.path().to_owned());
            let own = folder.read(PROFILE, partition);
            assert!(own.len() < plans.len());
            read.extend(own);
        }
        read.sort_by_key(|plan| plan.seed);
        assert_eq!(read, plans);
    }

    #[test]
    fn files_of_others_stay() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path();
        let occupied = name_of("plan", &plan(4));
        let of_others = [
            ("mine.json", plan(1).to_text()),
            (
                "brief.json",
                Plan::draw_sized(Seed::new(1), Profile::Brief).to_text(),
            ),
            ("notes.json", "{}".to_owned()),
            ("notes.txt", "text".to_owned()),
            (occupied.as_str(), "not a plan".to_owned()),
        ];
        for (name, text) in &of_others {
            fs::write(path.join(name), text).unwrap();
        }
        let mut folder = Folder::new(path.to_owned());
        assert_eq!(folder.read(PROFILE, Partition::WHOLE), [plan(1)]);
        let problems = folder.write([plan(4)].iter(), true);
        assert_eq!(problems.len(), 4, "{problems:?}");
        for (name, text) in &of_others {
            assert_eq!(
                fs::read_to_string(path.join(name)).unwrap(),
                *text,
                "{name}"
            );
        }
        assert_eq!(names(path).len(), of_others.len());
    }

    #[test]
    fn a_failing_plan_may_be_written_twice() {
        let place = tempfile::tempdir().unwrap();
        let folder = place.path().join("failures");
        let path = write_failing(&plan(1), Some(folder.clone())).unwrap();
        assert_eq!(write_failing(&plan(1), Some(folder)).unwrap(), path);
        assert_eq!(read(&path, PROFILE).unwrap(), plan(1));
    }
}

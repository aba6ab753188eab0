//! The program's output, for tests of its commands.

use std::process::{Command, Output};

/// The output of the program, and its exit status.
pub(crate) struct ProgramOutput {
    pub(crate) code: Option<i32>,
    pub(crate) out: String,
    pub(crate) err: String,
}

// === impl ProgramOutput ===

impl ProgramOutput {
    #[track_caller]
    pub(crate) fn exits(self, code: i32) -> Self {
        assert_eq!(self.code, Some(code), "{}\n{}", self.out, self.err);
        self
    }

    #[track_caller]
    pub(crate) fn says(self, text: &str) -> Self {
        assert!(self.out.contains(text), "no {text:?} in\n{}", self.out);
        self
    }

    #[track_caller]
    pub(crate) fn does_not_say(self, text: &str) -> Self {
        assert!(!self.out.contains(text), "{text:?} in\n{}", self.out);
        self
    }

    #[track_caller]
    pub(crate) fn complains(self, text: &str) -> Self {
        assert!(self.err.contains(text), "no {text:?} in\n{}", self.err);
        self
    }
}

/// Runs the program to its end.
pub(crate) fn conformance(args: &[&str]) -> ProgramOutput {
    let Output {
        status,
        stdout,
        stderr,
    } = Command::new(env!("CARGO_BIN_EXE_conformance"))
        .args(args)
        .output()
        .unwrap();
    ProgramOutput {
        code: status.code(),
        out: String::from_utf8(stdout).unwrap(),
        err: String::from_utf8(stderr).unwrap(),
    }
}

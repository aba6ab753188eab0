//! The harness's own tests against the real parts.
//!
//! | file | what it shows |
//! |---|---|
//! | `golden` | the fake server answers what a real one did |

mod golden;

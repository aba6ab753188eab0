//! The evaluation of scripts: a stack of frames, of which each step advances one.

use std::{collections::VecDeque, sync::Arc};

use bytes::Bytes;
use jiff::Timestamp;

use super::{
    Action, Flow, Outcome, Setting, Variables,
    expansion::{self, substitutions},
    grammar::{Command, For, If, List, Loop, RunCondition},
    lexer::{Redirection, Word},
    run_in_script,
};
use crate::containers::log::OutputStream;

/// The exit code of an aborted script.
const ABORTED: u8 = 2;
/// The maximum size in bytes of the words of a command, of the output of a substitution, and of the growth of variables.
pub(super) const TEXT_MAX: usize = 64 * 1024;

/// A script under way.
pub(super) struct Machine {
    pub(super) setting: Setting,
    /// The actions of the command that runs.
    actions: VecDeque<Action>,
    frames: Vec<Frame>,
    /// The code of the last command.
    pub(super) code: u8,
    /// True if a command that fails ends the script.
    pub(super) stops_at_failure: bool,
    /// True after `exit`, which ends also a shell that reads commands.
    pub(super) has_exited: bool,
    /// The bytes that variables may have.
    variables_max: usize,
}

/// A construct that is being evaluated. The frame below is the enclosing construct.
enum Frame {
    List {
        list: List,
        next: usize,
        /// True if a failure in it ends no script.
        is_condition: bool,
    },
    If {
        of: Arc<If>,
        /// The branch whose condition runs.
        branch: usize,
    },
    Loop {
        of: Arc<Loop>,
        is_in_body: bool,
        /// The code of its body.
        code: u8,
    },
    For {
        of: Arc<For>,
        values: VecDeque<String>,
    },
    /// Words of which some values are not known yet.
    Words {
        words: Arc<[Word]>,
        /// The loop whose values they are; none if they are a command.
        of: Option<Arc<For>>,
        /// The output of the first substitutions.
        printed: Vec<String>,
    },
    /// A substitution, which prints to `output`, and whose variables are its own.
    Capture {
        output: Vec<u8>,
        variables: Variables,
    },
    Negated,
    Redirected(Arc<[Redirection]>),
}

// === impl Machine ===

impl Machine {
    pub(super) fn new(setting: Setting) -> Self {
        let variables_max = size(&setting.variables) + TEXT_MAX;
        Self {
            setting,
            actions: VecDeque::new(),
            frames: Vec::new(),
            code: 0,
            stops_at_failure: false,
            has_exited: false,
            variables_max,
        }
    }

    /// Begins a script when all frames have ended.
    pub(super) fn begin(&mut self, list: List) {
        self.push_list(list, false);
    }

    /// Takes an action that is due.
    pub(super) fn pop_action(&mut self) -> Option<Action> {
        self.actions.pop_front()
    }

    /// Does one step. Returns whether there was one.
    pub(super) fn step(&mut self, now: Timestamp) -> bool {
        let Some(frame) = self.frames.pop() else {
            return false;
        };
        match frame {
            Frame::List {
                list,
                next,
                is_condition,
            } => self.step_list(list, next, is_condition),
            Frame::If { of, branch } => self.step_if(of, branch),
            Frame::Loop {
                of,
                is_in_body,
                code,
            } => self.step_loop(of, is_in_body, code),
            Frame::For { of, mut values } => {
                if let Some(value) = values.pop_front()
                    && self.set(&of.name, &value)
                {
                    let body = Arc::clone(&of.body);
                    self.frames.push(Frame::For { of, values });
                    self.push_list(body, false);
                }
            }
            Frame::Words { words, of, printed } => self.step_words(words, of, printed, now),
            Frame::Capture { output, variables } => {
                self.setting.variables = variables;
                let text = String::from_utf8_lossy(&output);
                if let Some(Frame::Words { printed, .. }) = self.frames.last_mut() {
                    printed.push(text.trim_end_matches('\n').to_owned());
                }
            }
            Frame::Negated => self.code = u8::from(self.code == 0),
            Frame::Redirected(_) => {}
        }
        true
    }

    /// Performs the outcome of a command.
    pub(super) fn take(&mut self, outcome: Outcome) {
        self.code = outcome.code;
        for action in outcome.actions {
            self.perform(action);
        }
        match outcome.flow {
            Flow::Next if self.code != 0 && self.stops_at_failure && !self.is_tested() => {
                self.exit();
            }
            Flow::Next => {}
            Flow::Exit => self.exit(),
            Flow::Break(levels) => self.leave(levels, false),
            Flow::Continue(levels) => self.leave(levels, true),
        }
    }

    /// Ends the script as a shell does after a fatal error.
    pub(super) fn abort(&mut self, error: &str) {
        self.frames.clear();
        self.take(Outcome::failed(&format!("sh: {error}\n"), ABORTED));
    }

    /// Sets a variable. Returns false if the script has ended, since there was no room for it.
    pub(super) fn set(&mut self, name: &str, value: &str) -> bool {
        self.setting.set(name, value);
        let has_room = size(&self.setting.variables) <= self.variables_max;
        if !has_room {
            let error = format!("variables grow by more than {TEXT_MAX} bytes; use less");
            self.abort(&error);
        }
        has_room
    }

    fn push_list(&mut self, list: List, is_condition: bool) {
        self.frames.push(Frame::List {
            list,
            next: 0,
            is_condition,
        });
    }

    fn step_list(&mut self, list: List, next: usize, is_condition: bool) {
        let Some(step) = list.get(next).cloned() else {
            return;
        };
        self.frames.push(Frame::List {
            list,
            next: next + 1,
            is_condition,
        });
        let is_wanted = match step.joint {
            RunCondition::Always => true,
            RunCondition::Success => self.code == 0,
            RunCondition::Failure => self.code != 0,
        };
        if !is_wanted {
            return;
        }
        if step.is_negated {
            self.frames.push(Frame::Negated);
        }
        if !step.redirections.is_empty() {
            self.frames.push(Frame::Redirected(step.redirections));
        }
        match step.command {
            Command::Simple(words) => self.push_words(words, None),
            Command::Group(list) => self.push_list(list, false),
            Command::If(of) => self.push_branch(of, 0),
            Command::Loop(of) => {
                let condition = Arc::clone(&of.condition);
                self.frames.push(Frame::Loop {
                    of,
                    is_in_body: false,
                    code: 0,
                });
                self.push_list(condition, true);
            }
            Command::For(of) => {
                self.code = 0;
                self.push_words(Arc::clone(&of.words), Some(of));
            }
        }
    }

    fn push_words(&mut self, words: Arc<[Word]>, of: Option<Arc<For>>) {
        self.frames.push(Frame::Words {
            words,
            of,
            printed: Vec::new(),
        });
    }

    fn push_branch(&mut self, of: Arc<If>, branch: usize) {
        let Some((condition, _)) = of.branches.get(branch) else {
            self.code = 0;
            if let Some(otherwise) = &of.otherwise {
                self.push_list(Arc::clone(otherwise), false);
            }
            return;
        };
        let condition = Arc::clone(condition);
        self.frames.push(Frame::If { of, branch });
        self.push_list(condition, true);
    }

    /// Goes on after the condition of a branch.
    fn step_if(&mut self, of: Arc<If>, branch: usize) {
        if self.code == 0 {
            let (_, body) = &of.branches[branch];
            self.push_list(Arc::clone(body), false);
        } else {
            self.push_branch(of, branch + 1);
        }
    }

    /// Goes on after the condition of a loop, or after its body.
    fn step_loop(&mut self, of: Arc<Loop>, is_in_body: bool, code: u8) {
        let is_over = !is_in_body && (self.code == 0) == of.is_until;
        if is_over {
            self.code = code;
            return;
        }
        let list = if is_in_body { &of.condition } else { &of.body };
        let list = Arc::clone(list);
        self.frames.push(Frame::Loop {
            of,
            is_in_body: !is_in_body,
            code: if is_in_body { self.code } else { code },
        });
        self.push_list(list, is_in_body);
    }

    /// Runs the next substitution of words, or uses the words when all values are known.
    fn step_words(
        &mut self,
        words: Arc<[Word]>,
        of: Option<Arc<For>>,
        printed: Vec<String>,
        now: Timestamp,
    ) {
        let next = substitutions(&words).nth(printed.len()).map(Arc::clone);
        if let Some(list) = next {
            self.frames.push(Frame::Words { words, of, printed });
            self.frames.push(Frame::Capture {
                output: Vec::new(),
                variables: self.setting.variables.clone(),
            });
            self.push_list(list, false);
            return;
        }
        let expanded = match expansion::expand(&words, &printed, &self.setting, self.code) {
            Ok(expanded) => expanded,
            Err(error) => return self.abort(&error),
        };
        if let Some(of) = of {
            let values = expanded.words.into();
            self.frames.push(Frame::For { of, values });
            return;
        }
        for (name, value) in &expanded.assignments {
            if !self.set(name, value) {
                return;
            }
        }
        match expanded.words.split_first() {
            Some((name, arguments)) => run_in_script(self, name, arguments, now),
            // The code is that of the last substitution.
            None => self.take(Outcome {
                code: if printed.is_empty() { 0 } else { self.code },
                ..Outcome::default()
            }),
        }
    }

    /// Hands an action on to where the frames let it go.
    fn perform(&mut self, action: Action) {
        match action {
            Action::Write(stream, bytes) => {
                let Some(stream) = self.routed(stream, Some(&bytes)) else {
                    return;
                };
                self.actions.push_back(Action::Write(stream, bytes));
            }
            Action::CopyInput(Some(stream)) => {
                if self.is_captured(stream) {
                    let error = Bytes::from_static(
                        b"sh: $(...): this server reads no standard input in a substitution\n",
                    );
                    self.code = 1;
                    return self.perform(Action::Write(OutputStream::Stderr, error));
                }
                let to = self.routed(stream, None);
                self.actions.push_back(Action::CopyInput(to));
            }
            action => self.actions.push_back(action),
        }
    }

    /// Returns the stream to which the output of the command that runs goes; none if it is nowhere, or if a substitution takes it.
    fn routed(&mut self, stream: OutputStream, bytes: Option<&[u8]>) -> Option<OutputStream> {
        let mut stream = stream;
        let mut is_full = false;
        for frame in self.frames.iter_mut().rev() {
            match frame {
                Frame::Redirected(redirections) => stream = redirected(redirections, stream)?,
                Frame::Capture { output, .. } if stream == OutputStream::Stdout => {
                    output.extend_from_slice(bytes.unwrap_or_default());
                    is_full = output.len() > TEXT_MAX;
                    if is_full {
                        break;
                    }
                    return None;
                }
                _ => {}
            }
        }
        if is_full {
            let error = format!("$(...): more than {TEXT_MAX} bytes of output; print less");
            self.abort(&error);
            return None;
        }
        Some(stream)
    }

    fn is_captured(&self, stream: OutputStream) -> bool {
        let mut stream = Some(stream);
        for frame in self.frames.iter().rev() {
            match (frame, stream) {
                (_, None) => return false,
                (Frame::Redirected(redirections), Some(from)) => {
                    stream = redirected(redirections, from);
                }
                (Frame::Capture { .. }, Some(OutputStream::Stdout)) => return true,
                _ => {}
            }
        }
        false
    }

    /// Returns whether something looks at the code of the command that runs, so that its failure ends nothing.
    fn is_tested(&self) -> bool {
        let is_tested = |frame: &Frame| match frame {
            Frame::List {
                list,
                next,
                is_condition,
            } => {
                *is_condition
                    || list
                        .get(*next)
                        .is_some_and(|step| step.joint != RunCondition::Always)
            }
            Frame::Negated => true,
            _ => false,
        };
        self.frames.iter().any(is_tested)
    }

    /// Ends the script, or the substitution that runs.
    fn exit(&mut self) {
        while !matches!(self.frames.last(), None | Some(Frame::Capture { .. })) {
            self.frames.pop();
        }
        self.has_exited |= self.frames.is_empty();
    }

    /// Leaves `levels` loops; if `is_continued`, the outermost of them continues with its next turn.
    fn leave(&mut self, levels: usize, is_continued: bool) {
        let within = self.frames.iter().rev();
        let within = within.take_while(|frame| !matches!(frame, Frame::Capture { .. }));
        let is_loop = |frame: &Frame| matches!(frame, Frame::Loop { .. } | Frame::For { .. });
        let loops: Vec<usize> = within
            .enumerate()
            .filter(|(_, frame)| is_loop(frame))
            .map(|(above, _)| above)
            .collect();
        // A shell ignores `break` outside of loops, and leaves all loops if the number is too high.
        let Some(above) = loops.get(levels.min(loops.len()).wrapping_sub(1)) else {
            return;
        };
        let kept = self.frames.len() - above;
        self.frames.truncate(kept);
        match self.frames.last_mut() {
            Some(Frame::Loop { is_in_body, .. }) if is_continued => *is_in_body = true,
            _ if is_continued => {}
            _ => self.frames.truncate(kept - 1),
        }
    }
}

fn size(variables: &[(String, String)]) -> usize {
    let sizes = variables
        .iter()
        .map(|(name, value)| name.len() + value.len());
    sizes.sum()
}

/// Returns the stream to which redirections, applied in order, send the output to a stream.
fn redirected(redirections: &[Redirection], stream: OutputStream) -> Option<OutputStream> {
    let (mut stdout, mut stderr) = (Some(OutputStream::Stdout), Some(OutputStream::Stderr));
    for redirection in redirections {
        let to = match redirection.to {
            None => None,
            Some(OutputStream::Stdout) => stdout,
            Some(OutputStream::Stderr) => stderr,
        };
        match redirection.from {
            OutputStream::Stdout => stdout = to,
            OutputStream::Stderr => stderr = to,
        }
    }
    match stream {
        OutputStream::Stdout => stdout,
        OutputStream::Stderr => stderr,
    }
}

//! Transcripts of the machine: its inputs, its effects, and its next step.

use super::{CAUSES, Mode, Player, Step, options, step_in_short};
use crate::{
    reflector::{PauseOptions, ReflectorOptions, WhenRemoved},
    transcripts::{Command, Outcome, World, play},
};

/// A machine, and its inputs since the start.
struct MachineWorld {
    mode: Mode,
    /// The version to follow from.
    last: String,
    options: ReflectorOptions,
    player: Player,
    inputs: Vec<String>,
}

// === impl MachineWorld ===

impl World for MachineWorld {
    fn new() -> Self {
        Self::begin(Mode::Mirror, String::new(), options())
    }

    fn run(&mut self, command: &mut Command<'_>) -> Outcome {
        let name = command.name().to_owned();
        let after = match command.value::<String>("after")? {
            Some(after) => format!("{after} "),
            None => String::new(),
        };
        match &*name {
            "start" => {
                let (mode, last) = mode_of(command)?;
                *self = Self::begin(mode, last, options_of(command)?);
                Ok(step_in_short(&self.player.machine, self.player.now))
            }
            "every-failure" => {
                let lines = CAUSES
                    .iter()
                    .map(|(cause, _)| self.would_tell(cause, &after));
                Ok(lines.collect::<Vec<_>>().join("\n"))
            }
            "page" => {
                let token = command.value::<String>("more")?.unwrap_or_default();
                let version = command.word()?;
                Ok(self.feed(&format!("{after}page {version} {token}")))
            }
            "fail" => {
                let time = command.time("retry-after")?;
                let time = time.map_or(String::new(), |time| time.as_secs().to_string());
                let cause = command.word()?;
                Ok(self.feed(&format!("{after}fail {cause} {time}")))
            }
            "added" | "modified" | "deleted" | "bookmark" | "end-bookmark" | "decide" => {
                let word = command.word()?;
                Ok(self.feed(&format!("{after}{name} {word}")))
            }
            "opened" | "ended" | "waited" | "emptied" | "pause" | "resume" => {
                Ok(self.feed(&format!("{after}{name}")))
            }
            _ => Err(command.unknown()),
        }
    }
}

impl MachineWorld {
    fn begin(mode: Mode, last: String, options: ReflectorOptions) -> Self {
        Self {
            player: Player::with_mode(mode, options.clone(), &last),
            mode,
            last,
            options,
            inputs: Vec::new(),
        }
    }

    fn feed(&mut self, input: &str) -> String {
        let input = input.trim_end().to_owned();
        let output = self.player.play(&input);
        self.inputs.push(input);
        output
    }

    /// Returns the consequence of this failure now, and after the delay if there is one.
    fn would_tell(&self, cause: &str, after: &str) -> String {
        let mut player = self.again();
        let output = player.play(&format!("{after}fail {cause}"));
        match player.machine.step() {
            Step::Wait { .. } => format!("{cause}: {output}, then {}", player.play("waited")),
            _ => format!("{cause}: {output}"),
        }
    }

    /// A second machine that received the same inputs.
    fn again(&self) -> Player {
        let mut player = Player::with_mode(self.mode, self.options.clone(), &self.last);
        for input in &self.inputs {
            player.play(input);
        }
        player
    }
}

/// `start [wait] [follow=VERSION]`
fn mode_of(command: &mut Command<'_>) -> Outcome<(Mode, String)> {
    Ok(match command.value("follow")? {
        Some(version) => (Mode::Follow, version),
        None if command.flag("wait")? => (Mode::Wait, String::new()),
        None => (Mode::Mirror, String::new()),
    })
}

/// `start [lists] [no-pause] [empty-store]`
fn options_of(command: &mut Command<'_>) -> Outcome<ReflectorOptions> {
    let mut options = options().with_streaming_lists(!command.flag("lists")?);
    if command.flag("no-pause")? {
        options = options.without_pause();
    }
    if command.flag("empty-store")? {
        let pause = PauseOptions::default().with_when_removed(WhenRemoved::EmptyStore);
        options = options.with_pause(pause);
    }
    Ok(options)
}

#[test]
fn transcripts() {
    play::<MachineWorld>("reflector_machine");
}

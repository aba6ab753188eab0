//! Commands, performed without a driver.

use super::*;

const NOW: Timestamp = Timestamp::constant(1_767_225_600, 0);

/// The outputs and the exit code of a command, the time that it slept, and the actions at which it read its input.
#[derive(Debug, Default, PartialEq, Eq)]
struct CommandResult {
    stdout: String,
    stderr: String,
    slept: Duration,
    code: u8,
}

fn setting() -> Setting {
    let variable = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    let mut files = Files::default();
    files.mount("/etc/config");
    files.put("/etc/config/key", "value\n");
    Setting {
        variables: vec![variable("A", "1"), variable("B", "two words")],
        files,
        host_name: "p".to_owned(),
        folder: "/".to_owned(),
        started: Some(NOW - Duration::from_secs(26 * 3_600 + 200)),
    }
}

/// Performs a command with these lines of input.
fn perform(words: &[&str], input: &str) -> CommandResult {
    let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
    let mut program = Program::new(&words, setting(), NOW);
    let mut performed = CommandResult::default();
    let mut lines = input.lines();
    let write = |stream, bytes: &[u8], performed: &mut CommandResult| {
        let text = str::from_utf8(bytes).unwrap();
        match stream {
            OutputStream::Stdout => performed.stdout.push_str(text),
            OutputStream::Stderr => performed.stderr.push_str(text),
        }
    };
    loop {
        match program.next(NOW) {
            Action::Write(stream, bytes) => write(stream, &bytes, &mut performed),
            Action::CopyInput(to) => {
                let rest: String = lines.by_ref().flat_map(|line| [line, "\n"]).collect();
                if let Some(stream) = to {
                    write(stream, rest.as_bytes(), &mut performed);
                }
            }
            Action::ReadLine { .. } => program.feed(lines.next()),
            Action::Sleep(time) => performed.slept += time,
            Action::Exit(code) => {
                performed.code = code;
                return performed;
            }
        }
    }
}

/// The standard output of a command that succeeds.
#[track_caller]
fn stdout_of(words: &[&str]) -> String {
    let performed = perform(words, "");
    assert_eq!((performed.code, &*performed.stderr), (0, ""), "{words:?}");
    performed.stdout
}

/// The standard error of a command that fails, and its code.
fn failed(words: &[&str]) -> (String, u8) {
    let performed = perform(words, "");
    (performed.stderr, performed.code)
}

#[test]
fn commands_work_as_in_a_container() {
    assert_eq!(stdout_of(&["echo", "-n", "a", "b"]), "a b");
    assert_eq!(stdout_of(&["/bin/echo", "-e", "a\\nb"]), "a\nb\n");
    assert_eq!(stdout_of(&["echo", "-x"]), "-x\n");
    assert_eq!(stdout_of(&["cat", "/etc/config/key"]), "value\n");
    assert_eq!(stdout_of(&["ls", "-l", "/etc"]), "config\n");
    assert_eq!(stdout_of(&["env"]), "A=1\nB=two words\n");
    assert_eq!(stdout_of(&["printenv", "B"]), "two words\n");
    assert_eq!(
        stdout_of(&["printf", "%s=%d%%\\n", "a", "1", "b"]),
        "a=1%\nb=0%\n"
    );
    assert_eq!(stdout_of(&["printf", "a", "b"]), "a");
    assert_eq!(failed(&["printf", "%x", "1"]).1, 1);
    assert_eq!(stdout_of(&["hostname"]), "p\n");
    assert_eq!(stdout_of(&["pwd"]), "/\n");
    assert_eq!(stdout_of(&["date"]), "Thu Jan  1 00:00:00 UTC 2026\n");
    assert_eq!(stdout_of(&["date", "-u", "+%Y"]), "2026\n");
    assert_eq!(stdout_of(&["true", "anything"]), "");
    assert_eq!(failed(&["false"]), (String::new(), 1));
    assert_eq!(failed(&["printenv", "X"]), (String::new(), 1));
    assert_eq!(
        failed(&["date", "foo"]),
        ("date: invalid date 'foo'\n".to_owned(), 1)
    );
    assert_eq!(
        failed(&["cat", "/etc", "/x"]),
        (
            "cat: /etc: Is a directory\ncat: /x: No such file or directory\n".to_owned(),
            1
        )
    );
    assert_eq!(perform(&["cat"], "a\nb").stdout, "a\nb\n");
    assert_eq!(
        perform(&["sleep", "1.5", "1m"], "").slept.as_millis(),
        61_500
    );
    assert_eq!(perform(&["sleep", "infinity"], "").slept, Duration::MAX);
    assert_eq!(failed(&["sleep", "soon"]).1, 1);
}

#[test]
fn commands_that_there_are_not_are_refused_in_a_runtimes_words() {
    let (error, code) = failed(&["nginx", "-s", "reload"]);
    assert_eq!(code, 127);
    assert_eq!(
        error,
        "exec failed: unable to start container process: exec: \"nginx\": executable file not found in $PATH; this \
         server runs :, [, cat, date, echo, env, false, hostname, ls, printenv, printf, pwd, seq, sleep, test, true, uptime \
         and sh\n"
    );
    let (error, code) = failed(&["/app/run"]);
    assert!(error.contains("stat /app/run: no such file or directory"));
    assert_eq!(code, 127);
    let (error, code) = failed(&["/etc/config/key"]);
    assert!(error.contains("permission denied"));
    assert_eq!(code, 126);
    let (error, code) = failed(&["sh", "-c", "nginx"]);
    assert!(error.starts_with("sh: nginx: not found"), "{error}");
    assert_eq!(code, 127);
    assert_eq!(failed(&[]).1, 127);
}

#[test]
fn a_script_runs_command_by_command() {
    let sh = |script: &str| stdout_of(&["sh", "-c", script]);
    assert_eq!(sh("echo $A; echo \"$B\"; echo '$A'"), "1\ntwo words\n$A\n");
    assert_eq!(sh("true && echo a || echo b"), "a\n");
    assert_eq!(sh("false && echo a || echo b"), "b\n");
    assert_eq!(sh("false; echo $?"), "1\n");
    assert_eq!(sh("C=x; D=$C$C\necho $D${C}"), "xxx\n");
    assert_eq!(sh("export C=x && echo $C"), "x\n");
    assert_eq!(sh("echo a >/dev/null; false 2>&1 >/dev/null; true"), "");
    assert_eq!(perform(&["sh", "-c", "echo a >&2 2>&1"], "").stderr, "a\n");
    assert_eq!(sh(""), "");
    assert_eq!(
        failed(&["sh", "-c", "echo a >&2; exit 3; echo b"]),
        ("a\n".to_owned(), 3)
    );
    assert_eq!(failed(&["bash", "-ec", "false; echo b"]).1, 1);
    assert_eq!(stdout_of(&["sh", "-ec", "false || true; echo b"]), "b\n");
    assert_eq!(sh("'if'=1 2>/dev/null || echo \\; a\\\n b"), "; a b\n");
    assert_eq!(failed(&["sh", "-c", "echo a | cat"]).1, 2);
    assert_eq!(failed(&["sh", "-c"]).1, 2);
    assert_eq!(failed(&["sh", "script.sh"]).1, 127);
    assert_eq!(
        perform(&["sh", "-c", "sleep 1 && sleep 2"], "")
            .slept
            .as_secs(),
        3
    );
}

#[test]
fn a_shell_without_a_script_reads_commands() {
    let performed = perform(&["sh"], "echo a\ncat\nb\nc");
    assert_eq!(performed.stdout, "a\nb\nc\n");
    let performed = perform(&["/bin/sh"], "exit 4\necho b");
    assert_eq!((performed.code, performed.stdout), (4, String::new()));
    let performed = perform(&["sh"], "a | b\necho c");
    assert_eq!((performed.code, &*performed.stdout), (0, "c\n"));
}

#[test]
fn a_finished_program_writes_its_output_and_exits() {
    let mut program = Program::finished(ExecOutput::new("out").with_exit_code(7));
    assert_eq!(
        program.next(NOW),
        Action::Write(OutputStream::Stdout, "out".into())
    );
    assert_eq!(program.next(NOW), Action::Exit(7));
}

#[test]
fn scripts_have_loops_and_conditions() {
    let sh = |script: &str| stdout_of(&["sh", "-c", script]);
    assert_eq!(
        sh("for i in $(seq 1 3); do echo $i; sleep 1; done"),
        "1\n2\n3\n"
    );
    assert_eq!(
        sh("for i in a \"b c\" $B\ndo\n  echo \"<$i>\"\ndone"),
        "<a>\n<b c>\n<two>\n<words>\n"
    );
    assert_eq!(sh("for i in; do echo $i; done; echo $?"), "0\n");
    assert_eq!(
        sh("i=0; while [ $i -lt 3 ]; do i=$((i + 1)); echo $i; done"),
        "1\n2\n3\n"
    );
    assert_eq!(
        sh("i=2; until test $i -eq 0; do i=$(($i-1)); done; echo ${i}"),
        "0\n"
    );
    let branches =
        "if [ $X = 1 ]; then echo one; elif [ $X = 2 ]; then echo two; else echo more; fi";
    for (value, expected) in [("1", "one\n"), ("2", "two\n"), ("3", "more\n")] {
        assert_eq!(sh(&format!("X={value}; {branches}")), expected);
    }
    assert_eq!(sh("if false; then echo a; fi && echo b"), "b\n");
    assert_eq!(
        sh("! false && { echo a; echo b; } 2>/dev/null >&2 || echo c"),
        ""
    );
    assert_eq!(
        sh(
            "for i in 1 2 3; do for j in 1 2; do [ $i$j = 12 ] && continue 2; [ $i = 3 ] && break 2; echo $i$j; done; done"
        ),
        "11\n21\n22\n"
    );
    assert_eq!(sh("while true; do echo a; break; done; echo $?"), "a\n0\n");
    assert_eq!(sh("break; continue; echo a"), "a\n");
}

#[test]
fn substitutions_have_the_output_of_commands() {
    let sh = |script: &str| stdout_of(&["sh", "-c", script]);
    assert_eq!(
        sh("A=2; echo \"$(A=3; echo $A; echo)\" $(echo $A)"),
        "3 2\n"
    );
    assert_eq!(
        sh("echo $(echo a $(echo 'b  c')) \"$(printf 'd\\n\\ne\\n\\n')\""),
        "a b c d\n\ne\n"
    );
    assert_eq!(sh("A=$(exit 3); echo $?; A=b echo $(exit 4)"), "3\n\n");
    assert_eq!(sh("echo x$(echo ' a ')y"), "x a y\n");
    assert_eq!(
        sh("A=$(seq 2); echo \"$A\"; A='x y'; B=$A; echo $B"),
        "1\n2\nx y\n"
    );
    let performed = perform(
        &["sh", "-c", "echo $(sleep 2; cat; echo a >&2; echo b)"],
        "in",
    );
    assert_eq!(performed.stdout, "b\n");
    assert!(performed.stderr.contains("no standard input"));
    assert!(performed.stderr.ends_with("a\n"), "{}", performed.stderr);
    assert_eq!(performed.slept.as_secs(), 2);
    assert_eq!(
        perform(&["sh", "-c", "echo $(cat /x 2>&1)"], "").stdout,
        "cat: /x: No such file or directory\n"
    );
}

#[test]
fn a_failure_ends_a_script_unless_it_is_looked_at() {
    let code = |script: &str| {
        let performed = perform(&["sh", "-ec", script], "");
        (performed.stdout, performed.code)
    };
    assert_eq!(
        code("if false; then :; fi; ! true; echo a"),
        ("a\n".to_owned(), 0)
    );
    assert_eq!(
        code("while false; do :; done; { false; } || echo a"),
        ("a\n".to_owned(), 0)
    );
    assert_eq!(
        code("for i in 1 2; do echo $i; false; done"),
        ("1\n".to_owned(), 1)
    );
    assert_eq!(code("A=$(false); echo a"), (String::new(), 1));
}

#[test]
fn tests_compare_texts_numbers_and_files() {
    let code = |words: &[&str]| {
        let words = [&["test"], words].concat();
        perform(&words, "").code
    };
    for (words, expected) in [
        (&[][..], 1),
        (&["x"], 0),
        (&["-n", ""], 1),
        (&["-z", ""], 0),
        (&["!", "-z", ""], 1),
        (&["a", "!=", "b"], 0),
        (&["a", "=", "b"], 1),
        (&["3", "-ge", "10"], 1),
        (&["3", "-le", "10"], 0),
        (&["3", "-gt", "2"], 0),
        (&["-f", "/etc/config/key"], 0),
        (&["-d", "/etc/config"], 0),
        (&["-e", "/nowhere"], 1),
        (&["-s", "/etc"], 1),
        (&["a", "-eq", "1"], 2),
        (&["a", "~", "1"], 2),
        (&["-q", "1"], 2),
        (&["a", "=", "a", "-a", "b"], 2),
    ] {
        assert_eq!(code(words), expected, "{words:?}");
    }
    assert_eq!(failed(&["[", "a"]), ("sh: [: missing ]\n".to_owned(), 2));
}

#[test]
fn sequences_and_uptimes_are_printed() {
    assert_eq!(stdout_of(&["seq", "3"]), "1\n2\n3\n");
    assert_eq!(stdout_of(&["seq", "5", "-2", "1"]), "5\n3\n1\n");
    assert_eq!(stdout_of(&["seq", "2", "1"]), "");
    assert_eq!(failed(&["seq", "1", "0", "2"]).1, 1);
    assert_eq!(failed(&["seq", "one"]).1, 1);
    assert_eq!(failed(&["seq"]).1, 1);
    let error = failed(&["seq", "1", "9223372036854775807"]).0;
    assert!(error.contains("ask for fewer"), "{error}");
    assert_eq!(
        stdout_of(&["uptime"]),
        " 00:00:00 up 1 day, 2:03,  0 users,  load average: 0.00, 0.00, 0.00\n"
    );
    assert_eq!(failed(&["uptime", "-p"]).1, 1);
}

#[test]
fn a_shell_waits_for_the_end_of_a_command() {
    let performed = perform(&["sh"], "for i in 1 2\ndo echo $i\ndone\necho 'a\nb'");
    assert_eq!(performed.stdout, "1\n2\na\nb\n");
    let performed = perform(&["sh"], "while true; do");
    assert!(performed.stderr.contains("unexpected end of file"));
    assert_eq!(performed.code, 2);
}

/// Returns the first actions of a script.
fn begin(script: &str, count: usize) -> Vec<Action> {
    let words = ["sh", "-c", script].map(str::to_owned);
    let mut program = Program::new(&words, setting(), NOW);
    (0..count).map(|_| program.next(NOW)).collect()
}

#[test]
fn a_script_without_end_pauses_and_is_bounded() {
    assert_eq!(
        begin("while :; do :; done", 3),
        vec![Action::Sleep(PAUSE); 3]
    );
    let forever = begin("while true; do date +%Y; sleep 1; done", 4);
    let line = Action::Write(OutputStream::Stdout, "2026\n".into());
    let second = Action::Sleep(Duration::from_secs(1));
    assert_eq!(forever, [line.clone(), second.clone(), line, second]);
    for script in [
        "A=x; while true; do A=$A$A; done",
        "while true; do i=$((i + 1)); export A$i=$(seq 1000); done",
        "A=$(while true; do seq 1000; done)",
    ] {
        let (error, code) = failed(&["sh", "-c", script]);
        assert!(error.contains(" bytes"), "{script}: {error}");
        assert_eq!(code, 2);
    }
    assert_eq!(failed(&["sh", "-c", "echo $((1 / 0)); echo a"]).1, 2);
}

proptest::proptest! {
    #[test]
    fn any_script_makes_progress_or_ends(
        parts in proptest::collection::vec(proptest::sample::select(PARTS), 0..40),
        text in ".{0,60}",
    ) {
        for script in [parts.concat(), parts.join(" "), text] {
            let mut size = 0;
            for action in begin(&script, 300) {
                if let Action::Write(_, bytes) = action {
                    size += bytes.len();
                }
            }
            proptest::prop_assert!(size < 300 * 2 * TEXT_MAX);
        }
    }
}

/// Parts of scripts, some of which fit together.
const PARTS: &[&str] = &[
    "for i in 1 2; do ",
    "while true; do ",
    "until false; do ",
    "done; ",
    "if [ $i = 1 ]; then ",
    "elif :; then ",
    "else ",
    "fi; ",
    "{ ",
    "}; ",
    "$(",
    ")",
    "$((",
    "))",
    "i=$i$i; ",
    "i=$((i+1)); ",
    "echo \"$i\"",
    "echo $i",
    "sleep 1; ",
    "cat ",
    "break; ",
    "continue 2; ",
    "exit 3; ",
    "set -e; ",
    "false",
    " && ",
    " || ",
    "; ",
    "\n",
    "! ",
    ">/dev/null ",
    "2>&1 ",
    "\"",
    "'",
    "\\",
    "$",
    "seq 3",
    "uptime",
    "#",
    "${i}",
    "=",
    "export A=$i; ",
];

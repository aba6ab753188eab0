//! Commands, performed without a driver.

use super::*;

const NOW: Timestamp = Timestamp::constant(1_767_225_600, 0);

/// The outputs and the code of a command; what it sleeps, and where it reads its input.
#[derive(Debug, Default, PartialEq, Eq)]
struct Performed {
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
    }
}

/// Performs a command with these lines of input.
fn perform(words: &[&str], input: &str) -> Performed {
    let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
    let mut program = Program::new(&words, setting(), NOW);
    let mut performed = Performed::default();
    let mut lines = input.lines();
    let write = |stream, bytes: &[u8], performed: &mut Performed| {
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
            Action::ReadLine => program.feed(lines.next()),
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
fn said(words: &[&str]) -> String {
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
fn commands_do_what_they_do_in_a_container() {
    assert_eq!(said(&["echo", "-n", "a", "b"]), "a b");
    assert_eq!(said(&["/bin/echo", "-e", "a\\nb"]), "a\nb\n");
    assert_eq!(said(&["echo", "-x"]), "-x\n");
    assert_eq!(said(&["cat", "/etc/config/key"]), "value\n");
    assert_eq!(said(&["ls", "-l", "/etc"]), "config\n");
    assert_eq!(said(&["env"]), "A=1\nB=two words\n");
    assert_eq!(said(&["printenv", "B"]), "two words\n");
    assert_eq!(
        said(&["printf", "%s=%d%%\\n", "a", "1", "b"]),
        "a=1%\nb=0%\n"
    );
    assert_eq!(said(&["printf", "a", "b"]), "a");
    assert_eq!(failed(&["printf", "%x", "1"]).1, 1);
    assert_eq!(said(&["hostname"]), "p\n");
    assert_eq!(said(&["pwd"]), "/\n");
    assert_eq!(said(&["date"]), "Thu Jan  1 00:00:00 UTC 2026\n");
    assert_eq!(said(&["date", "-u", "+%Y"]), "2026\n");
    assert_eq!(said(&["true", "anything"]), "");
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
         server runs cat, date, echo, env, false, hostname, ls, printenv, printf, pwd, sleep, true and sh\n"
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
    let sh = |script: &str| said(&["sh", "-c", script]);
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
    assert_eq!(said(&["sh", "-ec", "false || true; echo b"]), "b\n");
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
fn a_program_of_the_user_writes_what_it_is_told() {
    let mut program = Program::finished(ExecOutput::new("out").with_exit_code(7));
    assert_eq!(
        program.next(NOW),
        Action::Write(OutputStream::Stdout, "out".into())
    );
    assert_eq!(program.next(NOW), Action::Exit(7));
}

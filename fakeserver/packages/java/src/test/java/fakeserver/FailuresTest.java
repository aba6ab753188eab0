package fakeserver;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.api.io.TempDir;

class FailuresTest {
    private static final Duration LIMIT = Duration.ofSeconds(10);

    @TempDir
    Path folder;

    @Test
    void missingProgramSaysWhatToInstall() throws IOException {
        Optional<Path> beside = Optional.of(folder.resolve("bin/fakeserver"));
        fails("FAKESERVER_BIN is /nonexistent, which is no program: correct it, or unset it", () -> Programs.find("/nonexistent", "", beside));
        fails(
                "there is no program fakeserver on the PATH or at " + beside.get() + ": install it .*, or set FAKESERVER_BIN to its path",
                () -> Programs.find(null, "/nonexistent", beside));
        fails("there is no program fakeserver on the PATH or at bin/fakeserver beside the archive", () -> Programs.find("", null, Optional.empty()));
    }

    @Test
    void programIsFoundInOrder() throws IOException {
        Path program = script("exit 0");
        Path onPath = Files.move(script("exit 0"), folder.resolve("fakeserver"));
        Path named = script("exit 0");
        assertEquals(named, Programs.find(named.toString(), folder.toString(), Optional.empty()));
        assertEquals(onPath, Programs.find(null, "/nonexistent:" + folder, Optional.of(program)));
        Files.delete(onPath);
        Files.copy(named, folder.resolve("beside"));
        assertEquals(named, Programs.find(null, folder.toString(), Optional.of(named)));
    }

    @Test
    void startTellsWhatFailed() throws IOException {
        startFails("it ended with status 3; it said:\nno luck\ncommand: .*/program serve", "echo no luck >&2; exit 3");
        startFails("it ended by signal 9", "kill -9 $$");
        startFails("its first line is no address but: hello", "echo hello; exec sleep 60");
        fails("did not start: .*No such file", () -> KubeApiServer.start(Path.of("/nonexistent"), LIMIT));
        fails("did not start: it ended with status 2; it said:\nerror: unexpected argument '--controler'", () -> KubeApiServer.start("--controler"));
        Path silent = script("exec sleep 60");
        fails("it said no address within 200 ms", () -> KubeApiServer.start(silent, Duration.ofMillis(200)));
    }

    @Test
    void invalidFaultNamesItsField() {
        try (KubeApiServer server = KubeApiServer.start()) {
            Fault invalid = Fault.named("throttle").parameter("retryAfter", 2);
            ControlException refused =
                    assertThrows(ControlException.class, () -> server.installFaults(Fault.named("throttle"), invalid));
            assertEquals(400, refused.status());
            assertEquals(Optional.of("[1].retryAfter"), refused.field());
            assertTrue(refused.getMessage().contains("no such parameter"), refused.getMessage());
            assertEquals(List.of(), server.control().listFaults().items());
        }
    }

    @Test
    void jsonIsReadAndWritten() {
        Object value = Json.read(" {\"a\": [1, -2.5, true, null, {}], \"b\\n\": \"\\u00e4\\\"\\\\/\", \"c\": []} ");
        assertEquals("{\"a\":[1,-2.5,true,null,{}],\"b\\u000a\":\"\u00e4\\\"\\\\/\",\"c\":[]}", Json.write(value));
        assertEquals(Map.of("a", 1L), Json.read("{\"a\":1}"));
        for (String invalid : List.of("", "{", "[1", "[1,]", "{\"a\" 1}", "nul", "1 2", "\"a")) {
            assertThrows(IllegalArgumentException.class, () -> Json.read(invalid), invalid);
        }
    }

    private void startFails(String wanted, String line) throws IOException {
        Path program = script(line);
        fails("fakeserver did not start: " + wanted, () -> KubeApiServer.start(program, LIMIT));
    }

    private static void fails(String wanted, Executable action) {
        String message = assertThrows(ServerException.class, action).getMessage();
        assertTrue(Pattern.compile(wanted, Pattern.DOTALL).matcher(message).find(), message);
    }

    /** Returns a program made of a line of shell. */
    private Path script(String line) throws IOException {
        Path program = Files.writeString(folder.resolve("program"), "#!/bin/sh\n" + line + "\n");
        return Files.setPosixFilePermissions(program, PosixFilePermissions.fromString("rwx------"));
    }
}

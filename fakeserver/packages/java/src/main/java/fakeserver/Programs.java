package fakeserver;

import java.io.File;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.CodeSource;
import java.util.Arrays;
import java.util.Optional;

/** The search for the program. */
final class Programs {
    private static final String VARIABLE = "FAKESERVER_BIN";

    private Programs() {}

    /**
     * Returns the path of the program: that in the property or variable {@code FAKESERVER_BIN}, or {@code fakeserver} on the {@code PATH},
     * or {@code bin/fakeserver} beside this archive.
     */
    static Path find() {
        return find(Optional.ofNullable(System.getProperty(VARIABLE)).orElse(System.getenv(VARIABLE)), System.getenv("PATH"), beside());
    }

    static Path find(String named, String path, Optional<Path> beside) {
        if (named != null && !named.isEmpty()) {
            if (!isProgram(Path.of(named))) {
                throw new ServerException(VARIABLE + " is " + named + ", which is no program: correct it, or unset it");
            }
            return Path.of(named).toAbsolutePath();
        }
        return Arrays.stream(path == null ? new String[0] : path.split(File.pathSeparator))
                .filter(folder -> !folder.isEmpty())
                .map(folder -> Path.of(folder, "fakeserver"))
                .filter(Programs::isProgram)
                .findFirst()
                .or(() -> beside.filter(Programs::isProgram))
                .orElseThrow(() -> new ServerException("there is no program fakeserver on the PATH or at "
                        + beside.map(Path::toString).orElse("bin/fakeserver beside the archive")
                        + ": install it "
                        + "(cargo install --path fakeserver in its repository, or a package that scripts/package.sh builds there), or set "
                        + VARIABLE + " to its path"));
    }

    private static Optional<Path> beside() {
        CodeSource source = Programs.class.getProtectionDomain().getCodeSource();
        if (source == null) {
            return Optional.empty();
        }
        try {
            return Optional.of(Path.of(source.getLocation().toURI()).resolveSibling("bin").resolve("fakeserver"));
        } catch (URISyntaxException | IllegalArgumentException error) {
            // Classes that come from elsewhere have no folder.
            return Optional.empty();
        }
    }

    private static boolean isProgram(Path file) {
        return Files.isRegularFile(file) && Files.isExecutable(file);
    }
}

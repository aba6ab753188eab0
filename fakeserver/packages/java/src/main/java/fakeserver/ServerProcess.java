package fakeserver;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The process of a server, and what it says. */
final class ServerProcess {
    private static final Pattern ANNOUNCEMENT = Pattern.compile("listening on (https?://\\S+)");
    /** Longer than the server takes to answer the requests that it has. */
    private static final Duration STOP_TIMEOUT = Duration.ofSeconds(10);
    /** Enough for an error; a server that logs a lot does not fill the memory. */
    private static final int KEPT_OF_STDERR = 64 * 1024;

    private final Process process;
    private final CompletableFuture<String> firstLine = new CompletableFuture<>();
    private final StringBuilder said = new StringBuilder();
    private final Thread reader;

    ServerProcess(List<String> command) throws IOException {
        process = new ProcessBuilder(command).start();
        process.getOutputStream().close();
        start("fakeserver-stdout", this::readOutput);
        reader = start("fakeserver-stderr", this::readErrors);
    }

    /** Returns the address that the first line tells. */
    String address(Duration limit) {
        String line;
        try {
            line = firstLine.get(limit.toMillis(), TimeUnit.MILLISECONDS);
        } catch (TimeoutException error) {
            throw new ServerException("it said no address within " + limit.toMillis() + " ms" + quoted());
        } catch (InterruptedException error) {
            Thread.currentThread().interrupt();
            throw new ServerException("interrupted", error);
        } catch (ExecutionException error) {
            throw new ServerException("its output cannot be read", error.getCause());
        }
        if (line == null) {
            waitFor(STOP_TIMEOUT);
            throw new ServerException(isAlive() ? "it closed its output" + quoted() : "it ended " + end());
        }
        Matcher found = ANNOUNCEMENT.matcher(line.strip());
        if (!found.matches()) {
            throw new ServerException("its first line is no address but: " + line);
        }
        return found.group(1);
    }

    boolean isAlive() {
        return process.isAlive();
    }

    long pid() {
        return process.pid();
    }

    /** Tells how the process ended, and what it said. */
    String end() {
        try {
            // The rest of what it said.
            reader.join(1_000);
        } catch (InterruptedException error) {
            Thread.currentThread().interrupt();
        }
        int status = process.exitValue();
        return (status > 128 ? "by signal " + (status - 128) : "with status " + status) + quoted();
    }

    void stop() {
        process.destroy();
        if (!waitFor(STOP_TIMEOUT)) {
            process.destroyForcibly();
            waitFor(STOP_TIMEOUT);
        }
    }

    private boolean waitFor(Duration limit) {
        try {
            return process.waitFor(limit.toMillis(), TimeUnit.MILLISECONDS);
        } catch (InterruptedException error) {
            Thread.currentThread().interrupt();
            return false;
        }
    }

    private String quoted() {
        synchronized (said) {
            String text = said.toString().strip();
            return text.isEmpty() ? "" : "; it said:\n" + text;
        }
    }

    private void readOutput() {
        try (BufferedReader lines = new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8))) {
            firstLine.complete(lines.readLine());
            while (lines.readLine() != null) {
                // A full pipe would hold up the server.
            }
        } catch (IOException error) {
            firstLine.completeExceptionally(error);
        }
    }

    private void readErrors() {
        byte[] buffer = new byte[4096];
        try (InputStream errors = process.getErrorStream()) {
            for (int count = errors.read(buffer); count >= 0; count = errors.read(buffer)) {
                synchronized (said) {
                    said.append(new String(buffer, 0, count, StandardCharsets.UTF_8));
                    said.delete(0, Math.max(0, said.length() - KEPT_OF_STDERR));
                }
            }
        } catch (IOException error) {
            // The process has ended.
        }
    }

    private static Thread start(String name, Runnable work) {
        Thread thread = new Thread(work, name);
        thread.setDaemon(true);
        thread.start();
        return thread;
    }
}

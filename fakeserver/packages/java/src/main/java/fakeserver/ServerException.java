package fakeserver;

/** An error of the server's process. Its message says what to do. */
public final class ServerException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    ServerException(String message) {
        super(message);
    }

    ServerException(String message, Throwable cause) {
        super(message, cause);
    }
}

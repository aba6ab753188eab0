package fakeserver;

import java.util.Optional;

/** An answer of the control API that is no success. */
public final class ControlException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private final int status;
    private final String field;

    ControlException(String operation, int status, String message, String field) {
        super(operation + ": " + status + ": " + message);
        this.status = status;
        this.field = field;
    }

    /** Returns the code of HTTP. */
    public int status() {
        return status;
    }

    /** Returns the field of the request that is invalid, if the server has named one. */
    public Optional<String> field() {
        return Optional.ofNullable(field);
    }
}

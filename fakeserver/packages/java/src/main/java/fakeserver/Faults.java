package fakeserver;

/** The names of faults, for {@link Fault#named}. The catalogue tells what they do, and their parameters. */
public final class Faults {
    // generated from /_control/openapi.json by scripts/packages/control_clients.py

    public static final String CLEAN_END = "clean_end";
    public static final String DISCONNECT = "disconnect";
    public static final String RESET_MID_LINE = "reset_mid_line";
    public static final String RESET_MID_BODY = "reset_mid_body";
    public static final String SILENCE = "silence";
    public static final String TRICKLE = "trickle";
    public static final String SLOW_READER_EVICTED = "slow_reader_evicted";
    public static final String RECHUNK = "rechunk";
    public static final String GO_AWAY = "go_away";
    public static final String END_BEFORE_INITIAL_EVENTS_END = "end_before_initial_events_end";
    public static final String END_AFTER_BOOKMARK = "end_after_bookmark";
    public static final String COMPACT = "compact";
    public static final String EXPIRE = "expire";
    public static final String EXPIRED_EVENT = "expired_event";
    public static final String EXPIRED_STATUS = "expired_status";
    public static final String EXPIRED_RELIST = "expired_relist";
    public static final String ROLLBACK = "rollback";
    public static final String VERSION_TOO_LARGE = "version_too_large";
    public static final String LATE_CACHE = "late_cache";
    public static final String GONE = "gone";
    public static final String STALE_VIEW = "stale_view";
    public static final String LAGGING_REPLICA = "lagging_replica";
    public static final String TIME_TRAVEL = "time_travel";
    public static final String COALESCE = "coalesce";
    public static final String UNOBSERVED = "unobserved";
    public static final String LOST_ANSWER = "lost_answer";
    public static final String DROP_EVENT = "drop_event";
    public static final String DUPLICATE_EVENT = "duplicate_event";
    public static final String REORDER_EVENTS = "reorder_events";
    public static final String BOOKMARK_AHEAD = "bookmark_ahead";
    public static final String THROTTLE = "throttle";
    public static final String SERVER_ERROR = "server_error";
    public static final String CONNECTION_REFUSED = "connection_refused";
    public static final String LATENCY = "latency";
    public static final String HANG = "hang";
    public static final String SLOW_HEADERS = "slow_headers";
    public static final String UNAUTHORIZED = "unauthorized";
    public static final String FORBIDDEN = "forbidden";
    public static final String CONFLICT = "conflict";
    public static final String ALREADY_EXISTS = "already_exists";
    public static final String DENIED = "denied";
    public static final String SLOW_WEBHOOK = "slow_webhook";
    public static final String RESOURCE_GONE = "resource_gone";
    public static final String DISCOVERY_UNAVAILABLE = "discovery_unavailable";
    public static final String UNKNOWN_FIELDS = "unknown_fields";
    public static final String HUGE_OBJECTS = "huge_objects";
    public static final String ENTITY_TOO_LARGE = "entity_too_large";
    public static final String MIXED_VERSIONS = "mixed_versions";
    public static final String WATCH_LIST_IGNORED = "watch_list_ignored";
    public static final String WATCH_LIST_REJECTED = "watch_list_rejected";
    public static final String INITIAL_EVENTS_END_MISSING = "initial_events_end_missing";
    public static final String INITIAL_EVENTS_SHUFFLED = "initial_events_shuffled";
    public static final String CHANGED_DURING_INITIAL_EVENTS = "changed_during_initial_events";

    // end of what is generated

    private Faults() {}
}

package control

// The names of faults: Fault.Name. The catalogue tells their parameters.
const (
	// FaultCleanEnd models: a watch ends in good order before a frame.
	FaultCleanEnd = "clean_end"
	// FaultDisconnect models: a server restarts: all open watches end.
	FaultDisconnect = "disconnect"
	// FaultResetMidLine models: a connection breaks within a line.
	FaultResetMidLine = "reset_mid_line"
	// FaultResetMidBody models: a connection breaks within a list.
	FaultResetMidBody = "reset_mid_body"
	// FaultSilence models: a half-open connection: a stream stays open and brings nothing.
	FaultSilence = "silence"
	// FaultTrickle models: a connection that brings a few bytes at a time.
	FaultTrickle = "trickle"
	// FaultSlowReaderEvicted models: a server cuts off a watcher that reads too slowly, behind what is queued for it.
	FaultSlowReaderEvicted = "slow_reader_evicted"
	// FaultRechunk models: bytes arrive in other pieces: cut within a character, several events in one.
	FaultRechunk = "rechunk"
	// FaultGoAway models: an HTTP/2 connection is closed: requests fail unserved, watches break between frames.
	FaultGoAway = "go_away"
	// FaultEndBeforeInitialEventsEnd models: a streaming list ends before it is complete.
	FaultEndBeforeInitialEventsEnd = "end_before_initial_events_end"
	// FaultEndAfterBookmark models: a stream ends just after a bookmark.
	FaultEndAfterBookmark = "end_after_bookmark"
	// FaultCompact models: history is forgotten for lists: continuations meet 410.
	FaultCompact = "compact"
	// FaultExpire models: history is forgotten for lists and watches.
	FaultExpire = "expire"
	// FaultExpiredEvent models: 410 as an ERROR event in a stream.
	FaultExpiredEvent = "expired_event"
	// FaultExpiredStatus models: 410 as the status of a watch, a list at a version or a continuation, as aggregated servers have it.
	FaultExpiredStatus = "expired_status"
	// FaultExpiredRelist models: 410 for the list that is to mend a 410.
	FaultExpiredRelist = "expired_relist"
	// FaultRollback models: a cluster is restored from a backup: versions go down, names come back with other uids.
	FaultRollback = "rollback"
	// FaultVersionTooLarge models: a replica that has not come as far as its client: 504 after three seconds.
	FaultVersionTooLarge = "version_too_large"
	// FaultGone models: 410 with the reason Gone, or with a text for a body.
	FaultGone = "gone"
	// FaultStaleView models: a replica stands still while others go on, and then jumps.
	FaultStaleView = "stale_view"
	// FaultLaggingReplica models: a replica comes after the others.
	FaultLaggingReplica = "lagging_replica"
	// FaultTimeTravel models: a connection leads to a replica that is behind what was seen.
	FaultTimeTravel = "time_travel"
	// FaultCoalesce models: states come and go before a client looks.
	FaultCoalesce = "coalesce"
	// FaultUnobserved models: changes are seen through a list only: an object deleted and made anew has another uid.
	FaultUnobserved = "unobserved"
	// FaultLostAnswer models: a write whose answer is lost, whether or not it took effect.
	FaultLostAnswer = "lost_answer"
	// FaultDropEvent models: negative control: an event never comes.
	FaultDropEvent = "drop_event"
	// FaultDuplicateEvent models: negative control: an event comes twice.
	FaultDuplicateEvent = "duplicate_event"
	// FaultReorderEvents models: negative control: an event comes after the next one.
	FaultReorderEvents = "reorder_events"
	// FaultBookmarkAhead models: negative control: a bookmark promises an event that was not sent.
	FaultBookmarkAhead = "bookmark_ahead"
	// FaultThrottle models: 429 with Retry-After, as text by priority and fairness or as a Status while caches begin.
	FaultThrottle = "throttle"
	// FaultServerError models: 500, 502, 503 or 504, by the server or as text or a page by a load balancer.
	FaultServerError = "server_error"
	// FaultConnectionRefused models: the server does not listen.
	FaultConnectionRefused = "connection_refused"
	// FaultLatency models: a slow network, steady or not.
	FaultLatency = "latency"
	// FaultHang models: a request is accepted, and no headers come.
	FaultHang = "hang"
	// FaultSlowHeaders models: a request is carried out, and its headers come late.
	FaultSlowHeaders = "slow_headers"
	// FaultUnauthorized models: 401: a token was rotated.
	FaultUnauthorized = "unauthorized"
	// FaultForbidden models: 403: a right is taken away, for good or by turns.
	FaultForbidden = "forbidden"
	// FaultConflict models: 409 for an update: another writer was quicker.
	FaultConflict = "conflict"
	// FaultAlreadyExists models: 409 for a create that took effect: an intermediary sent it twice.
	FaultAlreadyExists = "already_exists"
	// FaultDenied models: 403 or 422 in the words of an admission webhook.
	FaultDenied = "denied"
	// FaultSlowWebhook models: a webhook takes its time, and may get no more of it.
	FaultSlowWebhook = "slow_webhook"
	// FaultResourceGone models: a definition is away for a while: 404, and watches end.
	FaultResourceGone = "resource_gone"
	// FaultDiscoveryUnavailable models: one group's server is away: 503, and Stale among all groups.
	FaultDiscoveryUnavailable = "discovery_unavailable"
	// FaultUnknownFields models: a server is newer than its clients.
	FaultUnknownFields = "unknown_fields"
	// FaultHugeObjects models: objects as large as a store takes them.
	FaultHugeObjects = "huge_objects"
	// FaultEntityTooLarge models: 413: a write is larger than a server or an intermediary takes.
	FaultEntityTooLarge = "entity_too_large"
	// FaultWatchListIgnored models: an old server overlooks sendInitialEvents.
	FaultWatchListIgnored = "watch_list_ignored"
	// FaultWatchListRejected models: a server refuses sendInitialEvents with 422.
	FaultWatchListRejected = "watch_list_rejected"
	// FaultInitialEventsEndMissing models: the bookmark that ends the initial events never comes.
	FaultInitialEventsEndMissing = "initial_events_end_missing"
	// FaultInitialEventsShuffled models: the initial events come in no order.
	FaultInitialEventsShuffled = "initial_events_shuffled"
	// FaultChangedDuringInitialEvents models: objects change and go before the initial events have ended.
	FaultChangedDuringInitialEvents = "changed_during_initial_events"
)

//! What goes wrong between the store and a client, on demand.

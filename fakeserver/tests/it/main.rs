//! The API through its router, verb by verb.

mod support;

mod create;
mod update;
mod versions;
mod patch;
mod apply;
mod delete;
mod garbage_collection;
mod namespaces;
mod workloads;
mod custom_resources;
mod managed_fields;
mod discovery;
mod openapi;
mod printer_columns;
mod bad_input;
mod protobuf;
mod representations;
mod forms;
mod limits;
mod sockets;
mod connections;
mod subresources;
mod webhooks;
mod conversion;
mod access;
mod adoption;
mod budgets;
mod tls;
mod program;
mod in_process;
mod control_faults;
mod snapshots;
mod manifests;
mod model;

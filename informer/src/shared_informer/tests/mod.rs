mod apply;
mod consistency;
mod filter;
mod informer;
mod model;
mod present;
mod progress;
mod relist;

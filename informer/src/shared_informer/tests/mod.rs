mod apply;
mod informer;
mod model;
mod present;
mod relist;

mod apply;
mod informer;
mod model;

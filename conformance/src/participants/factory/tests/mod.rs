mod plan;
mod promises;

//! The live page of the server: `/_control/page` and the socket that feeds it.
//!
//! ```text
//! page.html ◄── document            GET /_control/page: one file, without anything of the server in it
//! page.js   ◄── session ◄── state, objects       GET /_control/page/live: four times a second, what has changed
//!               session ──► router::respond       a command is the request that it stands for, by the socket's own user
//! ```
//!
//! `access` decides who gets a socket: the page's own origin, an address that no other site can have given to the server, and
//! the token, which the browser keeps in the fragment of the URL, so that no request and no log has it.

mod access;
mod command;
mod state;
mod objects;
mod document;
mod session;

pub(super) use self::{
    access::Page,
    document::{LiveFeed, serve},
    session::run,
};

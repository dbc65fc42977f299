//! The built `oz0`, from outside: real processes, real servers, real files.

mod clients;
mod conformance;
mod documents;
mod examples;
mod held;
mod hostile;
mod inspector;
mod linted;
mod local;
mod manners;
mod measured;
mod operator;
mod packed;
mod processes;
mod running;
mod sdk_clients;
mod support;
mod wrap;

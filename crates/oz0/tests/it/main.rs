//! The built `oz0`, from outside: real processes, real servers, real files.

mod clients;
mod conformance;
mod documents;
mod examples;
mod hostile;
mod inspector;
mod manners;
mod measured;
mod processes;
mod running;
mod sdk_clients;
mod support;

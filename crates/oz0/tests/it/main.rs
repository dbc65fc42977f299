//! The built `oz0`, from outside: real processes, real servers, real files.

mod documents;
mod examples;
mod hostile;
mod manners;
mod measured;
mod packed;
mod processes;
mod support;

//! The console of a running `oz0 up`, in Chromium and by bytes: what people see, and what strangers get.

mod access;
mod browser;
mod follow;
mod hostile;
mod requests;
mod story;

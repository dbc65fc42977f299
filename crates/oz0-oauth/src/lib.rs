//! OAuth 2.1, as far as a client of it needs it: where an authorization server is, a token by a person in a browser or for the
//! client itself, its renewal, and its end.
//!
//! Three rules hold everywhere here. What a server says of itself is taken from its own origin alone: the protected resource's
//! metadata from the resource (RFC 9728), the authorization server's from the issuer that these name (RFC 8414), and no
//! endpoint of it lies at another origin. Nothing is redirected, nothing is asked of a proxy of the environment, and plain
//! `http` goes to this machine only. And what is secret is in no error: of what a server answers to a request for tokens only
//! the error's code is repeated, since its prose may quote what was sent.

mod code;
mod endpoint;
mod error;
mod http;
mod metadata;
mod token;

pub use code::{Authorization, Callback, Pending};
pub use endpoint::{EndpointError, endpoint};
pub use error::OauthError;
pub use http::Http;
pub use metadata::{Issuer, Resource, discover_issuer, discover_resource};
pub use token::{
    Auth, Client, Endpoints, Revoked, Tokens, client_credentials, refresh, register, revoke,
};

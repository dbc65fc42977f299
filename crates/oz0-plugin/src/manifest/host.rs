//! Hosts that a plugin reaches.

use crate::check::OZ_L002;
use crate::decode::text::text;

text! {
    /// A host name or an IPv4 address, in which `*` may stand for any run of characters.
    pub struct HostPattern: "a host", &OZ_L002,
    r"^[A-Za-z0-9*]([A-Za-z0-9*_-]{0,61}[A-Za-z0-9*])?(\.[A-Za-z0-9*]([A-Za-z0-9*_-]{0,61}[A-Za-z0-9*])?)*$",
    "write the host alone, such as `api.example.com`: no scheme, port or path";

    fn hint(text: &str) -> Option<String> {
        let url = if text.contains("://") { text.to_owned() } else { format!("https://{text}") };
        let host = url::Url::parse(&url).ok()?.host_str()?.to_owned();
        (host != text).then(|| format!("write the host alone: {host}"))
    }
}

impl HostPattern {
    /// Whether it can stand for more than one host.
    pub fn is_wildcard(&self) -> bool {
        self.0.contains('*')
    }
}

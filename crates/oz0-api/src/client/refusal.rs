//! Why there is no connection, in words, and what to do about it.

use std::error::Error;
use std::io;

use rustls::CertificateError;

/// Who issues certificates that count here.
const AUTHORITIES: &str =
    "name the certificate of the authority that issued it, in PEM, with SSL_CERT_FILE=FILE";

/// What is wrong, and what to do where that can be said.
pub(super) fn explain(error: &(dyn Error + 'static), is_local: bool) -> (String, Option<String>) {
    if let Some(fault) = inner::<rustls::Error>(error) {
        let (reason, hint) = tls(fault);
        return (reason, hint.map(str::to_owned));
    }
    let kind = inner::<io::Error>(error).map(io::Error::kind);
    let hint = match kind {
        _ if is_local => Some("start it with: oz0 up, or without a node: oz0 edge"),
        Some(io::ErrorKind::ConnectionRefused) => Some("start it there with: oz0 edge"),
        _ => None,
    };
    (last(error), hint.map(str::to_owned))
}

fn tls(fault: &rustls::Error) -> (String, Option<&'static str>) {
    let words = |text: &str| text.to_owned();
    match fault {
        rustls::Error::InvalidCertificate(CertificateError::UnknownIssuer) => (
            words("its certificate was issued by nobody that this machine trusts"),
            Some(AUTHORITIES),
        ),
        rustls::Error::InvalidCertificate(
            CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. },
        ) => (
            words("its certificate is for other names than this one"),
            Some("reach the edge by a name that its certificate has, or give it one for this name"),
        ),
        rustls::Error::InvalidCertificate(
            CertificateError::Expired | CertificateError::ExpiredContext { .. },
        ) => (
            words("its certificate has expired"),
            Some("give the edge a new one, and start it anew"),
        ),
        rustls::Error::InvalidCertificate(
            CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. },
        ) => {
            (words("its certificate does not count yet"), Some("check the clocks of both machines"))
        }
        // rustls passes its verifier's own error on, whose type is not public to it.
        rustls::Error::InvalidCertificate(CertificateError::Other(other))
            if format!("{other:?}").contains("CaUsedAsEndEntity") =>
        {
            (
                words("its certificate is an authority's own, which counts for no server"),
                Some(
                    "give the edge one that an authority issued for its name, and name the authority's here with \
                     SSL_CERT_FILE=FILE",
                ),
            )
        }
        rustls::Error::InvalidMessage(_) => (
            words("what answers there does not speak TLS"),
            Some("give its address with `http://`"),
        ),
        other => (other.to_string(), None),
    }
}

/// The first error of a type in a chain. What an [`io::Error`] was made of is no source of it, and is looked into as well.
fn inner<'a, T: Error + 'static>(error: &'a (dyn Error + 'static)) -> Option<&'a T> {
    let mut next = Some(error);
    while let Some(error) = next {
        if let Some(found) = error.downcast_ref::<T>() {
            return Some(found);
        }
        let made_of = error.downcast_ref::<io::Error>().and_then(io::Error::get_ref);
        if let Some(found) = made_of.and_then(|made_of| made_of.downcast_ref::<T>()) {
            return Some(found);
        }
        next = error.source();
    }
    None
}

/// What caused all of it: the HTTP client's own text says only which step failed.
fn last(error: &(dyn Error + 'static)) -> String {
    let mut last = error;
    while let Some(source) = last.source() {
        last = source;
    }
    last.to_string()
}

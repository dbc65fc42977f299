//! Where an edge keeps its store and its bundles, as an operator says it.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use sqlx::postgres::{PgConnectOptions, PgSslMode};
use url::{Host, Url};

/// Where the store is.
#[derive(Debug, Clone, Default)]
#[expect(clippy::large_enum_variant, reason = "a process has one")]
pub enum StoreAt {
    /// A file in the data folder.
    #[default]
    Folder,
    /// A `PostgreSQL` database, which other edges may use as well.
    Postgres(PostgresAt),
}

/// Why an address is none that is taken. Nothing of it is repeated: it may hold a password.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PlaceError {
    /// No address of a database.
    #[error(
        "a store is given as postgres://[USER[:PASSWORD]@]HOST[:PORT]/DATABASE[?sslmode=verify-full]"
    )]
    Store,
    /// A parameter that is not known, or one that does not decode.
    #[error("the store's address has a parameter `{0}` that is not one of {1}, or does not decode")]
    Parameter(String, &'static str),
    /// No bucket and no folder.
    #[error("bundles are kept in a folder, or in a bucket that is given as s3://BUCKET[/PREFIX]")]
    Bundles,
}

/// The parameters of an address that are taken, as `PostgreSQL`'s own programs name them.
const PARAMETERS: &[&str] = &[
    "sslmode",
    "sslrootcert",
    "sslcert",
    "sslkey",
    "host",
    "port",
    "dbname",
    "user",
    "password",
    "application_name",
    "options",
];
const LISTED: &str = "sslmode, sslrootcert, sslcert, sslkey, host, port, dbname, user, password, application_name, options";

/// A `PostgreSQL` database's address. Shown without its password and parameters, whoever shows it.
#[derive(Clone)]
pub struct PostgresAt {
    shown: String,
    options: PgConnectOptions,
}

impl PostgresAt {
    pub(crate) fn options(&self) -> PgConnectOptions {
        self.options.clone()
    }
}

impl fmt::Display for PostgresAt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.shown)
    }
}

impl fmt::Debug for PostgresAt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("PostgresAt").field(&self.shown).finish()
    }
}

impl FromStr for PostgresAt {
    type Err = PlaceError;

    fn from_str(text: &str) -> Result<Self, PlaceError> {
        let url = Url::parse(text).map_err(|_| PlaceError::Store)?;
        if !matches!(url.scheme(), "postgres" | "postgresql") || url.fragment().is_some() {
            return Err(PlaceError::Store);
        }
        let mut says_mode = false;
        let mut socket = url.host_str().is_none_or(|host| host.starts_with("%2F"));
        let mut near = url.host().is_some_and(|host| is_loopback(&host));
        for (key, value) in url.query_pairs() {
            if !PARAMETERS.contains(&&*key) {
                return Err(PlaceError::Parameter(
                    oz0_listing::escape::line_within(&key, 40).into_owned(),
                    LISTED,
                ));
            }
            match &*key {
                "sslmode" => says_mode = true,
                "host" => {
                    socket = value.starts_with('/');
                    near = Host::parse(&value).is_ok_and(|host| is_loopback(&host));
                }
                _ => {}
            }
        }
        // What it says of a value that does not decode may quote the value.
        let mut options: PgConnectOptions = text.parse().map_err(|_| PlaceError::Store)?;
        if !says_mode && !socket && !near {
            // Approvals go over this connection: to another machine only with TLS, unless somebody says otherwise.
            options = options.ssl_mode(PgSslMode::VerifyFull);
        }
        if url.query_pairs().all(|(key, _)| key != "application_name") {
            options = options.application_name("oz0");
        }
        let host = options.get_socket().map_or_else(
            || format!("{}:{}", options.get_host(), options.get_port()),
            |socket| socket.display().to_string(),
        );
        let database = options.get_database().unwrap_or_else(|| options.get_username());
        let shown = format!("postgres://{}@{host}/{database}", options.get_username());
        let shown = oz0_listing::escape::line(&shown).into_owned();
        Ok(Self { shown, options })
    }
}

fn is_loopback<S: AsRef<str>>(host: &Host<S>) -> bool {
    match host {
        Host::Domain(name) => {
            let name = name.as_ref();
            name == "localhost"
                || name.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback())
        }
        Host::Ipv4(address) => address.is_loopback(),
        Host::Ipv6(address) => address.is_loopback(),
    }
}

impl FromStr for StoreAt {
    type Err = PlaceError;

    fn from_str(text: &str) -> Result<Self, PlaceError> {
        text.parse().map(Self::Postgres)
    }
}

/// Where bundles are.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum BundlesAt {
    /// A folder in the data folder.
    #[default]
    Data,
    /// A folder that other edges may use as well.
    Folder(PathBuf),
    /// A bucket that speaks S3, whose region, endpoint and credentials are in the environment.
    S3 {
        /// Its name.
        bucket: String,
        /// What each object's name begins with; empty, or ends with `/`.
        prefix: String,
    },
}

impl FromStr for BundlesAt {
    type Err = PlaceError;

    fn from_str(text: &str) -> Result<Self, PlaceError> {
        let Some(rest) = text.strip_prefix("s3://") else {
            if text.is_empty() || text.contains("://") {
                return Err(PlaceError::Bundles);
            }
            return Ok(Self::Folder(PathBuf::from(text)));
        };
        let (bucket, prefix) = rest.split_once('/').unwrap_or((rest, ""));
        let plain =
            |text: &str| text.bytes().all(|b| b.is_ascii_alphanumeric() || b"._-/".contains(&b));
        let whole =
            prefix.split('/').all(|part| part != "." && part != "..") && !prefix.contains("//");
        if bucket.is_empty() || !plain(bucket) || !plain(prefix) || !whole {
            return Err(PlaceError::Bundles);
        }
        let prefix = prefix.trim_matches('/');
        let prefix = if prefix.is_empty() { String::new() } else { format!("{prefix}/") };
        Ok(Self::S3 { bucket: bucket.to_owned(), prefix })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_shown_without_its_password() {
        for text in [
            "postgres://oz0:hunter2@db.example/oz0",
            "postgresql://oz0@db.example:5432/oz0?password=hunter2",
        ] {
            let at: PostgresAt = text.parse().unwrap();
            assert_eq!(at.to_string(), "postgres://oz0@db.example:5432/oz0");
            assert_eq!(format!("{at:?}"), "PostgresAt(\"postgres://oz0@db.example:5432/oz0\")");
        }
        for text in [
            "postgres://oz0:hunter2@db.example/oz0?passwort=hunter2",
            "postgres://oz0:hunter2@db.example/oz0?sslmode=hunter2",
            "postgres://oz0:hunter2@db.example:hunter2/oz0",
            "mysql://oz0:hunter2@db.example/oz0",
        ] {
            let error = text.parse::<PostgresAt>().unwrap_err();
            assert!(!error.to_string().contains("hunter2"), "{error}");
        }
    }

    #[test]
    fn another_machine_is_spoken_to_with_tls_unless_somebody_says_otherwise() {
        let mode = |text: &str| text.parse::<PostgresAt>().unwrap().options.get_ssl_mode();
        let full = |text: &str| matches!(mode(text), PgSslMode::VerifyFull);
        assert!(full("postgres://db.example/oz0"));
        assert!(full("postgres://127.0.0.1/oz0?host=db.example"));
        assert!(full("postgres://127.0.0.1/oz0?sslmode=verify-full"));
        for text in [
            "postgres://db.example/oz0?sslmode=disable",
            "postgres://127.0.0.1/oz0",
            "postgres://[::1]/oz0",
            "postgres://localhost/oz0",
            "postgres:///oz0?host=/run/postgresql",
            "postgres://%2Frun%2Fpostgresql/oz0",
        ] {
            assert!(!full(text), "{text}");
        }
    }

    #[test]
    fn bundles_are_in_a_folder_or_a_bucket() {
        let s3 = |bucket: &str, prefix: &str| BundlesAt::S3 {
            bucket: bucket.to_owned(),
            prefix: prefix.to_owned(),
        };
        assert_eq!("s3://team".parse(), Ok(s3("team", "")));
        assert_eq!("s3://team/oz0/bundles/".parse(), Ok(s3("team", "oz0/bundles/")));
        assert_eq!("/srv/bundles".parse(), Ok(BundlesAt::Folder("/srv/bundles".into())));
        for text in ["", "s3://", "s3:///x", "s3://a/../b", "https://a/b", "s3://a/b?c"] {
            assert_eq!(text.parse::<BundlesAt>(), Err(PlaceError::Bundles), "{text}");
        }
    }
}

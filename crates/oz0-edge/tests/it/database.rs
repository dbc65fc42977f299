//! The database of an edge under test: a file in its folder, or a database at a server.
//!
//! Where the environment names a server, every house keeps its store there: `postgres.rs` runs the whole suite so.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use oz0_edge::StoreAt;
use oz0_peers::postgres::{self, Postgres};
use sqlx::{AssertSqlSafe, PgPool, SqlitePool};

/// The folder of the server that every house is to keep its store at.
pub(crate) const SERVER: &str = "OZ0_EDGE_TEST_POSTGRES";

/// In a house's folder: the address of its database.
const ADDRESS: &str = "store.url";

/// The server of this process.
pub(crate) fn server() -> &'static Postgres {
    static SERVER: OnceLock<Postgres> = OnceLock::new();
    SERVER.get_or_init(|| Postgres::start().unwrap())
}

/// The server that every house is to keep its store at.
fn server_folder() -> Option<PathBuf> {
    std::env::var_os(SERVER).map(PathBuf::from)
}

pub(crate) fn is_postgres() -> bool {
    server_folder().is_some()
}

/// The name of a house's database, after its folder.
fn name(folder: &Path) -> String {
    let name = folder.file_name().unwrap().to_string_lossy();
    name.chars().filter(char::is_ascii_alphanumeric).collect::<String>().to_ascii_lowercase()
}

/// Where the house of this folder keeps its store. Its database is made when it is first asked for.
pub(crate) fn store(folder: &Path) -> StoreAt {
    match server_folder() {
        Some(server) => store_at(folder, &server),
        None => StoreAt::Folder,
    }
}

/// The same at this server.
pub(crate) fn store_at(folder: &Path, server: &Path) -> StoreAt {
    let kept = folder.join(ADDRESS);
    let address = std::fs::read_to_string(&kept).unwrap_or_else(|_| {
        let address = postgres::create_database(server, &name(folder)).unwrap();
        std::fs::write(&kept, &address).unwrap();
        address
    });
    address.parse().unwrap()
}

/// Takes away what a house's folder does not hold.
pub(crate) fn forget(folder: &Path) {
    if let (Some(server), true) = (server_folder(), folder.join(ADDRESS).exists()) {
        let _ = postgres::drop_database(&server, &name(folder));
    }
}

/// Edits the database of a house behind its back.
pub(crate) async fn edit(folder: &Path, sql: &str) -> Result<(), sqlx::Error> {
    let sql = AssertSqlSafe(sql.to_owned());
    if let Ok(address) = std::fs::read_to_string(folder.join(ADDRESS)) {
        let pool = PgPool::connect(&address).await?;
        let done = sqlx::raw_sql(sql).execute(&pool).await.map(drop);
        pool.close().await;
        return done;
    }
    let url = format!("sqlite:{}/data/edge.db", folder.display());
    let pool = SqlitePool::connect(&url).await?;
    let done = sqlx::raw_sql(sql).execute(&pool).await.map(drop);
    pool.close().await;
    done
}

/// How many rows a table of a house has.
pub(crate) async fn rows(folder: &Path, table: &str) -> i64 {
    let sql = AssertSqlSafe(format!("SELECT COUNT(*) FROM {table}"));
    if let Ok(address) = std::fs::read_to_string(folder.join(ADDRESS)) {
        let pool = PgPool::connect(&address).await.unwrap();
        return sqlx::query_scalar(sql).fetch_one(&pool).await.unwrap();
    }
    let url = format!("sqlite:{}/data/edge.db", folder.display());
    let pool = SqlitePool::connect(&url).await.unwrap();
    sqlx::query_scalar(sql).fetch_one(&pool).await.unwrap()
}

/// What keeps the log from being edited, out of the way.
pub(crate) fn without_triggers() -> &'static str {
    if is_postgres() {
        "DROP TRIGGER audit_is_append_only ON audit"
    } else {
        "DROP TRIGGER audit_is_append_only_update; DROP TRIGGER audit_is_append_only_delete"
    }
}

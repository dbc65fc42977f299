//! Rows of any table, as lines of JSON: the columns' names, then each row's values in their order.
//!
//! The tables are those that the database has, so that one that a later step adds is in every backup.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::io::Write as _;
use std::path::Path;

use serde_json::Value as Json;
use sqlx::postgres::PgRow;
use sqlx::sqlite::SqliteRow;
use sqlx::{FromRow, Row as _, TypeInfo as _, ValueRef as _};

use super::super::db::{Conn, Of, Value, query, query_as};
use super::super::error::judge;
use super::StoreError;
use super::archive::{Entry, Spool};

/// What a column holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Integer,
    Text,
    Bytes,
}

/// A table's columns, in their order.
pub(super) type Columns = Vec<(String, Kind)>;

const OF_SQLITE: &str =
    "SELECT m.name, c.name, c.type FROM sqlite_master m, pragma_table_info(m.name) c
     WHERE m.type = 'table' AND m.name NOT LIKE 'sqlite~_%' ESCAPE '~' ORDER BY m.name, c.cid";
const OF_POSTGRES: &str = "SELECT c.table_name::text, c.column_name::text, c.data_type::text
     FROM information_schema.columns c JOIN pg_tables t
     ON t.schemaname = c.table_schema AND t.tablename = c.table_name
     WHERE c.table_schema = current_schema() ORDER BY c.table_name, c.ordinal_position";

/// The tables of the store.
pub(super) async fn tables(conn: &mut Conn) -> sqlx::Result<BTreeMap<String, Columns>> {
    let sql = match conn.of() {
        Of::Sqlite(_) => OF_SQLITE,
        Of::Postgres(_) => OF_POSTGRES,
    };
    let rows: Vec<(String, String, String)> = query_as(sql).fetch_all(conn).await?;
    let mut tables = BTreeMap::<String, Columns>::new();
    for (table, column, kind) in rows {
        let kind = match kind.to_ascii_lowercase().as_str() {
            "bytea" | "blob" => Kind::Bytes,
            "text" => Kind::Text,
            _ => Kind::Integer,
        };
        tables.entry(table).or_default().push((column, kind));
    }
    Ok(tables)
}

/// A row's values.
struct Cells(Vec<Json>);

impl FromRow<'_, SqliteRow> for Cells {
    fn from_row(row: &SqliteRow) -> sqlx::Result<Self> {
        let cell = |at| {
            let raw = row.try_get_raw(at)?;
            Ok(match raw.type_info().name() {
                _ if raw.is_null() => Json::Null,
                "INTEGER" => row.try_get::<i64, _>(at)?.into(),
                "BLOB" => bytes(&row.try_get::<Vec<u8>, _>(at)?),
                _ => row.try_get::<String, _>(at)?.into(),
            })
        };
        (0..row.len()).map(cell).collect::<sqlx::Result<_>>().map(Self)
    }
}

impl FromRow<'_, PgRow> for Cells {
    fn from_row(row: &PgRow) -> sqlx::Result<Self> {
        let cell = |at| {
            let raw = row.try_get_raw(at)?;
            Ok(match raw.type_info().name() {
                _ if raw.is_null() => Json::Null,
                "INT8" => row.try_get::<i64, _>(at)?.into(),
                "BYTEA" => bytes(&row.try_get::<Vec<u8>, _>(at)?),
                _ => row.try_get::<String, _>(at)?.into(),
            })
        };
        (0..row.len()).map(cell).collect::<sqlx::Result<_>>().map(Self)
    }
}

/// Bytes, in hexadecimal.
fn bytes(bytes: &[u8]) -> Json {
    use std::fmt::Write as _;
    let hex = bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut hex, byte| {
        let _ = write!(hex, "{byte:02x}");
        hex
    });
    hex.into()
}

fn unhex(text: &str) -> Option<Vec<u8>> {
    let (pairs, rest) = text.as_bytes().as_chunks::<2>();
    let pair = |pair: &[u8; 2]| u8::from_str_radix(str::from_utf8(pair).ok()?, 16).ok();
    rest.is_empty().then(|| pairs.iter().map(pair).collect())?
}

fn names(columns: &[(String, Kind)]) -> Vec<&str> {
    columns.iter().map(|(name, _)| name.as_str()).collect()
}

fn line(spool: &mut Spool, value: &Json) -> Result<(), StoreError> {
    writeln!(spool.0, "{value}").map_err(|source| StoreError::Folder {
        operation: "write",
        path: "the backup".into(),
        source,
    })
}

/// Writes a table's rows, and says how many.
pub(super) async fn dump(
    conn: &mut Conn,
    table: &str,
    columns: &[(String, Kind)],
    spool: &mut Spool,
) -> Result<u64, StoreError> {
    let names = names(columns);
    line(spool, &names.clone().into())?;
    let mut count = 0;
    let sql = format!("SELECT {} FROM {table}", names.join(", "));
    query_as::<Cells>(sql)
        .each(conn, |Cells(cells)| {
            count += 1;
            line(spool, &Json::Array(cells))
        })
        .await?;
    Ok(count)
}

/// Puts a table's rows into the database, and says how many.
pub(super) async fn load(
    conn: &mut Conn,
    table: &str,
    columns: &[(String, Kind)],
    entry: &mut Entry<'_>,
    path: &Path,
) -> Result<u64, StoreError> {
    let wrong = |what: &str| StoreError::Row(what.to_owned());
    let mut lines = || entry.line().map_err(|error| StoreError::Row(error.to_string()));
    let names = lines()?.ok_or_else(|| wrong("it is empty"))?;
    let names: Vec<String> =
        serde_json::from_str(&names).map_err(|_| wrong("it does not begin with its columns"))?;
    let kinds: BTreeMap<&str, Kind> =
        columns.iter().map(|(name, kind)| (name.as_str(), *kind)).collect();
    // Only names that the schema has become part of a statement.
    let known = names.iter().map(|name| kinds.get(name.as_str()).copied());
    let known: Vec<Kind> = known
        .collect::<Option<_>>()
        .ok_or_else(|| wrong("it has a column that this oz0 does not know"))?;
    if names.iter().collect::<BTreeSet<_>>().len() != names.len() || names.is_empty() {
        return Err(wrong("its columns are not each named once"));
    }
    let places: Vec<String> = (1..=names.len()).map(|at| format!("${at}")).collect();
    let sql = format!("INSERT INTO {table} ({}) VALUES ({})", names.join(", "), places.join(", "));
    let mut count = 0;
    while let Some(line) = lines()? {
        let cells: Vec<Json> =
            serde_json::from_str(&line).map_err(|_| wrong("a row does not decode"))?;
        if cells.len() != known.len() {
            return Err(wrong("a row has too many values, or too few"));
        }
        let mut insert = query(sql.clone());
        for (cell, kind) in cells.into_iter().zip(&known) {
            insert =
                insert.bind(value(cell, *kind).ok_or_else(|| wrong("a value is of another kind"))?);
        }
        insert.execute(conn).await.map_err(|error| judge(path, error))?;
        count += 1;
    }
    Ok(count)
}

fn value(cell: Json, kind: Kind) -> Option<Value<'static>> {
    Some(match (kind, cell) {
        (Kind::Integer, Json::Null) => Value::Integer(None),
        (Kind::Text, Json::Null) => Value::Text(None),
        (Kind::Bytes, Json::Null) => Value::Bytes(None),
        (Kind::Integer, Json::Number(number)) => Value::Integer(Some(number.as_i64()?)),
        (Kind::Text, Json::String(text)) => Value::Text(Some(Cow::Owned(text))),
        (Kind::Bytes, Json::String(hex)) => Value::Bytes(Some(Cow::Owned(unhex(&hex)?))),
        _ => return None,
    })
}

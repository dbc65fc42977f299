//! The two databases behind one text of each query.
//!
//! What is said here is said to both: numbered parameters, text and 64-bit integers. `SQLite` takes `$1` as `PostgreSQL`
//! does, so no text is ever rewritten; only whoever dumps or restores every table makes one.
//!
//! One writer. In `SQLite` that is the one connection of a pool; over `PostgreSQL` several edges write, and each write
//! begins by taking one advisory lock that ends with its transaction. So revisions and the audit log are as strictly in
//! order as they are in a file, and no write ever has to be tried again because of another.

use std::borrow::Cow;
use std::marker::PhantomData;

use futures_util::stream::TryStreamExt as _;
use sqlx::postgres::{PgConnection, PgPool, PgRow};
use sqlx::sqlite::{SqliteConnection, SqlitePool, SqliteRow};
use sqlx::{AssertSqlSafe, FromRow, Postgres, Sqlite, Transaction};

use super::StoreError;

/// Begins a write among those of other edges: `oz0store`, as a number.
const BEGIN_WRITE: &str = "BEGIN; SELECT pg_advisory_xact_lock(8032786157801534053)";
/// Begins a view that no write moves.
const BEGIN_READ: &str = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY";

/// The channel on which edges tell each other that something was committed.
pub(super) const CHANNEL: &str = "oz0";

/// A database, with one connection that writes and several that read.
#[derive(Debug, Clone)]
pub(super) enum Db {
    /// A file.
    Sqlite { writer: SqlitePool, readers: SqlitePool },
    /// A server.
    Postgres { writer: PgPool, readers: PgPool, beside: PgPool },
}

/// A connection, inside its transaction.
pub(super) enum Conn {
    Sqlite(Transaction<'static, Sqlite>),
    Postgres(Transaction<'static, Postgres>),
}

impl Db {
    /// A view that no write moves while it is read.
    pub(super) async fn read(&self) -> sqlx::Result<Conn> {
        Ok(match self {
            Self::Sqlite { readers, .. } => Conn::Sqlite(readers.begin().await?),
            Self::Postgres { readers, .. } => Conn::Postgres(readers.begin_with(BEGIN_READ).await?),
        })
    }

    /// A write, after every other.
    pub(super) async fn write(&self) -> sqlx::Result<Conn> {
        Ok(match self {
            Self::Sqlite { writer, .. } => {
                Conn::Sqlite(writer.begin_with("BEGIN IMMEDIATE").await?)
            }
            Self::Postgres { writer, .. } => Conn::Postgres(writer.begin_with(BEGIN_WRITE).await?),
        })
    }

    /// A small write that no other has to do with, and that waits for none.
    pub(super) async fn beside(&self) -> sqlx::Result<Conn> {
        Ok(match self {
            Self::Sqlite { writer, .. } => Conn::Sqlite(writer.begin().await?),
            Self::Postgres { beside, .. } => Conn::Postgres(beside.begin().await?),
        })
    }

    /// Whether its connections have ended.
    pub(super) fn is_closed(&self) -> bool {
        match self {
            Self::Sqlite { writer, .. } => writer.is_closed(),
            Self::Postgres { writer, .. } => writer.is_closed(),
        }
    }

    /// Ends every connection.
    pub(super) async fn close(&self) {
        match self {
            Self::Sqlite { writer, readers } => {
                readers.close().await;
                writer.close().await;
            }
            Self::Postgres { writer, readers, beside } => {
                beside.close().await;
                readers.close().await;
                writer.close().await;
            }
        }
    }
}

impl Conn {
    pub(super) async fn commit(self) -> sqlx::Result<()> {
        match self {
            Self::Sqlite(tx) => tx.commit().await,
            Self::Postgres(tx) => tx.commit().await,
        }
    }

    pub(super) fn of(&mut self) -> Of<'_> {
        match self {
            Self::Sqlite(tx) => Of::Sqlite(tx),
            Self::Postgres(tx) => Of::Postgres(tx),
        }
    }
}

/// The driver's own connection.
pub(super) enum Of<'a> {
    Sqlite(&'a mut SqliteConnection),
    Postgres(&'a mut PgConnection),
}

/// What a parameter holds. A parameter that is NULL has a type all the same, which `PostgreSQL` asks for.
#[derive(Debug, Clone)]
pub(super) enum Value<'q> {
    Integer(Option<i64>),
    Text(Option<Cow<'q, str>>),
    Bytes(Option<Cow<'q, [u8]>>),
}

impl From<i64> for Value<'_> {
    fn from(value: i64) -> Self {
        Self::Integer(Some(value))
    }
}

impl From<Option<i64>> for Value<'_> {
    fn from(value: Option<i64>) -> Self {
        Self::Integer(value)
    }
}

impl<'q> From<&'q str> for Value<'q> {
    fn from(value: &'q str) -> Self {
        Self::Text(Some(Cow::Borrowed(value)))
    }
}

impl<'q> From<&'q String> for Value<'q> {
    fn from(value: &'q String) -> Self {
        Self::Text(Some(Cow::Borrowed(value)))
    }
}

impl From<String> for Value<'_> {
    fn from(value: String) -> Self {
        Self::Text(Some(Cow::Owned(value)))
    }
}

impl<'q> From<Option<&'q str>> for Value<'q> {
    fn from(value: Option<&'q str>) -> Self {
        Self::Text(value.map(Cow::Borrowed))
    }
}

impl From<Option<String>> for Value<'_> {
    fn from(value: Option<String>) -> Self {
        Self::Text(value.map(Cow::Owned))
    }
}

impl From<Vec<u8>> for Value<'_> {
    fn from(value: Vec<u8>) -> Self {
        Self::Bytes(Some(Cow::Owned(value)))
    }
}

impl<'q> From<&'q [u8]> for Value<'q> {
    fn from(value: &'q [u8]) -> Self {
        Self::Bytes(Some(Cow::Borrowed(value)))
    }
}

/// What a row is read as, of either database.
pub(super) trait Row:
    for<'r> FromRow<'r, SqliteRow> + for<'r> FromRow<'r, PgRow> + Send + Unpin
{
}

impl<T> Row for T where T: for<'r> FromRow<'r, SqliteRow> + for<'r> FromRow<'r, PgRow> + Send + Unpin
{}

/// A query and its parameters, each of whose rows is a `T`.
pub(super) struct Query<'q, T> {
    sql: Cow<'static, str>,
    values: Vec<Value<'q>>,
    row: PhantomData<fn() -> T>,
}

/// A query whose rows are not read.
pub(super) fn query<'q>(sql: impl Into<Cow<'static, str>>) -> Query<'q, ()> {
    query_as(sql)
}

/// A query whose rows are tuples, or structures.
pub(super) fn query_as<'q, T>(sql: impl Into<Cow<'static, str>>) -> Query<'q, T> {
    Query { sql: sql.into(), values: Vec::new(), row: PhantomData }
}

/// A query whose rows are their first column.
pub(super) fn query_scalar<'q, T>(sql: impl Into<Cow<'static, str>>) -> Scalar<'q, T> {
    Scalar(query_as(sql))
}

/// Does the same with either database's query, on the connection of its kind.
macro_rules! on {
    ($conn:expr, $make:ident($sql:expr, $values:expr), $query:ident, $then:expr, $of:ident) => {
        match $conn.of() {
            Of::Sqlite($of) => {
                let mut $query = sqlx::$make::<Sqlite>(AssertSqlSafe($sql));
                on!(bind $query, $values);
                $then
            }
            Of::Postgres($of) => {
                let mut $query = sqlx::$make::<Postgres>(AssertSqlSafe($sql));
                on!(bind $query, $values);
                $then
            }
        }
    };
    (bind $query:ident, $values:expr) => {
        for value in $values {
            $query = match value {
                Value::Integer(value) => $query.bind(value),
                Value::Text(value) => $query.bind(value),
                Value::Bytes(value) => $query.bind(value.map(Cow::into_owned)),
            };
        }
    };
}

impl<'q, T> Query<'q, T> {
    pub(super) fn bind(mut self, value: impl Into<Value<'q>>) -> Self {
        self.values.push(value.into());
        self
    }

    /// Runs it, and says how many rows it wrote.
    pub(super) async fn execute(self, conn: &mut Conn) -> sqlx::Result<Written> {
        let written = on!(
            conn,
            query(self.sql, self.values),
            query,
            query.execute(of).await?.rows_affected(),
            of
        );
        Ok(Written(written))
    }
}

impl<T: Row> Query<'_, T> {
    pub(super) async fn fetch_all(self, conn: &mut Conn) -> sqlx::Result<Vec<T>> {
        on!(
            conn,
            query(self.sql, self.values),
            query,
            query.fetch_all(of).await?.iter().map(T::from_row).collect(),
            of
        )
    }

    pub(super) async fn fetch_optional(self, conn: &mut Conn) -> sqlx::Result<Option<T>> {
        on!(
            conn,
            query(self.sql, self.values),
            query,
            query.fetch_optional(of).await?.as_ref().map(T::from_row).transpose(),
            of
        )
    }

    pub(super) async fn fetch_one(self, conn: &mut Conn) -> sqlx::Result<T> {
        self.fetch_optional(conn).await?.ok_or(sqlx::Error::RowNotFound)
    }

    /// Hands over one row after another, of a query that may give more than memory holds.
    pub(super) async fn each(
        self,
        conn: &mut Conn,
        mut take: impl FnMut(T) -> Result<(), StoreError> + Send,
    ) -> Result<(), StoreError> {
        on!(
            conn,
            query(self.sql, self.values),
            query,
            {
                let mut rows = query.fetch(of);
                while let Some(row) = rows.try_next().await? {
                    take(T::from_row(&row)?)?;
                }
                Ok(())
            },
            of
        )
    }
}

/// A query whose rows are their first column.
pub(super) struct Scalar<'q, T>(Query<'q, (T,)>);

impl<'q, T> Scalar<'q, T>
where
    (T,): Row,
{
    pub(super) fn bind(self, value: impl Into<Value<'q>>) -> Self {
        Self(self.0.bind(value))
    }

    pub(super) async fn fetch_all(self, conn: &mut Conn) -> sqlx::Result<Vec<T>> {
        Ok(self.0.fetch_all(conn).await?.into_iter().map(|(value,)| value).collect())
    }

    pub(super) async fn fetch_optional(self, conn: &mut Conn) -> sqlx::Result<Option<T>> {
        Ok(self.0.fetch_optional(conn).await?.map(|(value,)| value))
    }

    pub(super) async fn fetch_one(self, conn: &mut Conn) -> sqlx::Result<T> {
        Ok(self.0.fetch_one(conn).await?.0)
    }
}

/// How many rows were written.
pub(super) struct Written(u64);

impl Written {
    pub(super) fn rows_affected(&self) -> u64 {
        self.0
    }
}

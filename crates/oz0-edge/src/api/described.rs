//! Routes that say what they are: the OpenAPI document is read off the same values that requests are answered from.
//!
//! A [`Route`] is made of its handler, and what a handler takes and gives stands in its own signature: who may ask
//! ([`Admin`](super::caller::Admin), [`Node`](super::caller::Node), …), which parameters and which body, which answer. So
//! that is where the document gets it from, by [`Input`] and [`Output`], and it cannot say another role than the one that is
//! asked for. What no signature tells is said where the route is made: a name, a line about it, and the refusals of its own.
//! A route without these does not compile, and the API's router is folded from nothing but such routes.

use std::fmt::Write as _;
use std::future::Future;

use axum::extract::{DefaultBodyLimit, Request, State};
use axum::handler::Handler;
use axum::http::{Method, header};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use axum::routing::{MethodFilter, MethodRouter, on};
use oz0_api::{Code, Problem};
use schemars::transform::{RecursiveTransform, Transform as _};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde_json::{Map, Value, json};

use super::{Answer, Api, BODY, Json, LONGEST_WAIT, Path, Query};

/// Routes that belong together, under one heading of the document.
pub(crate) struct Group {
    pub(crate) name: &'static str,
    /// What they are about, in a sentence.
    pub(crate) about: &'static str,
    pub(crate) routes: Vec<Route>,
}

/// One method of one path.
pub(crate) struct Route {
    pub(crate) path: &'static str,
    pub(crate) method: Method,
    router: MethodRouter<Api>,
    id: &'static str,
    about: &'static str,
    may: Vec<Code>,
    limit: usize,
    waits: bool,
    describe: fn(&mut Operation<'_>),
}

impl Route {
    pub(super) fn get<H: Describe<T>, T: 'static>(
        path: &'static str,
        id: &'static str,
        about: &'static str,
        handler: H,
    ) -> Self {
        Self::new(Method::GET, MethodFilter::GET, path, id, about, handler)
    }

    pub(super) fn put<H: Describe<T>, T: 'static>(
        path: &'static str,
        id: &'static str,
        about: &'static str,
        handler: H,
    ) -> Self {
        Self::new(Method::PUT, MethodFilter::PUT, path, id, about, handler)
    }

    pub(super) fn post<H: Describe<T>, T: 'static>(
        path: &'static str,
        id: &'static str,
        about: &'static str,
        handler: H,
    ) -> Self {
        Self::new(Method::POST, MethodFilter::POST, path, id, about, handler)
    }

    pub(super) fn delete<H: Describe<T>, T: 'static>(
        path: &'static str,
        id: &'static str,
        about: &'static str,
        handler: H,
    ) -> Self {
        Self::new(Method::DELETE, MethodFilter::DELETE, path, id, about, handler)
    }

    fn new<H: Describe<T>, T: 'static>(
        method: Method,
        filter: MethodFilter,
        path: &'static str,
        id: &'static str,
        about: &'static str,
        handler: H,
    ) -> Self {
        Self {
            path,
            method,
            router: on(filter, handler),
            id,
            about,
            may: Vec::new(),
            limit: BODY,
            waits: false,
            describe: H::describe,
        }
    }

    /// The problems that it may answer with beside those that its signature tells of.
    pub(super) fn may(mut self, codes: &[Code]) -> Self {
        self.may.extend(codes);
        self
    }

    /// The longest body that it takes, in bytes, where that is not [`BODY`].
    pub(super) fn limit(mut self, bytes: usize) -> Self {
        self.limit = bytes;
        self
    }

    /// What answers it, within its limit: a body that says that it is longer is not waited for.
    pub(super) fn served(self) -> MethodRouter<Api> {
        let router = self.router.layer(DefaultBodyLimit::max(self.limit));
        if self.method == Method::GET || self.method == Method::DELETE {
            return router;
        }
        router.layer(axum::middleware::from_fn_with_state(self.limit, within))
    }

    /// It answers when there is something to answer with, or when the longest wait is over.
    pub(super) fn waits(mut self) -> Self {
        self.waits = true;
        self
    }

    /// The operation as OpenAPI has it.
    pub(crate) fn operation(&self, group: &str, schemas: &mut SchemaGenerator) -> Value {
        let mut operation = Operation {
            path: self.path,
            limit: self.limit,
            schemas,
            parameters: Vec::new(),
            body: None,
            answer: None,
            who: None,
            codes: vec![Code::WrongOrigin, Code::Internal, Code::Unavailable],
        };
        (self.describe)(&mut operation);
        operation.codes.extend(&self.may);
        let responses = operation.responses();
        let who = operation.who;
        let mut said = String::from(who.map_or("Needs no token.", |who| who.said));
        if self.waits {
            let seconds = LONGEST_WAIT.as_secs();
            let _ = write!(said, " A long poll: it is answered after {seconds} s at the latest.");
        }
        let mut described = json!({
            "operationId": self.id,
            "tags": [group],
            "summary": self.about,
            "description": said,
            "security": who.map_or_else(Vec::new, Who::security),
            "responses": responses,
        });
        if who.is_some_and(|who| who.socket) {
            described["x-oz0-socket-without-token"] = json!(true);
        }
        if !operation.parameters.is_empty() {
            described["parameters"] = operation.parameters.into();
        }
        if let Some(body) = operation.body {
            described["requestBody"] = body;
        }
        described
    }
}

/// Turns away a body that is said to be too long, before any of it is read.
async fn within(State(limit): State<usize>, request: Request, next: Next) -> Response {
    let said = request.headers().get(header::CONTENT_LENGTH).and_then(|said| said.to_str().ok());
    let said: Option<u64> = said.and_then(|said| said.parse().ok());
    if said.is_some_and(|said| said > limit as u64) {
        let what = format!("the body has at most {} here", size(limit));
        return Answer::from(Problem::new(Code::TooLarge, what)).into_response();
    }
    next.run(request).await
}

/// Who may ask: an extractor's own answer to a request, in the document's words.
#[derive(Clone, Copy)]
pub(super) struct Who {
    /// The kinds of token, each a security scheme of the document.
    pub(super) tokens: &'static [&'static str],
    /// Whether the local socket needs none.
    pub(super) socket: bool,
    pub(super) said: &'static str,
}

impl Who {
    fn security(self) -> Vec<Value> {
        self.tokens.iter().map(|token| json!({ *token: [] })).collect()
    }
}

/// What a handler's signature says of its operation, gathered.
pub(super) struct Operation<'a> {
    path: &'static str,
    limit: usize,
    schemas: &'a mut SchemaGenerator,
    parameters: Vec<Value>,
    body: Option<Value>,
    answer: Option<Value>,
    who: Option<Who>,
    codes: Vec<Code>,
}

impl Operation<'_> {
    pub(super) fn by(&mut self, who: Who) {
        self.who = Some(who);
        self.codes.extend([Code::Unauthenticated, Code::Forbidden]);
    }

    /// A body of this media type, within the route's limit.
    pub(super) fn takes(&mut self, media: &str, schema: &Value) {
        let said = format!("At most {}.", size(self.limit));
        self.body = Some(json!({
            "required": true,
            "description": said,
            "x-oz0-limit-bytes": self.limit,
            "content": { media: { "schema": schema } },
        }));
        self.codes.extend([Code::Malformed, Code::TooLarge, Code::WrongMediaType]);
    }

    /// What a request that was done is answered with.
    pub(super) fn gives(&mut self, media: &str, schema: &Value) {
        self.answer = Some(json!({
            "description": "It was done.",
            "content": { media: { "schema": schema } },
        }));
    }

    /// The reference to a type's schema, which is put among the document's own.
    pub(super) fn schema<T: JsonSchema>(&mut self) -> Value {
        self.schemas.subschema_for::<T>().to_value()
    }

    fn responses(&self) -> Value {
        let mut responses = Map::new();
        responses.extend(self.answer.clone().map(|answer| ("200".to_owned(), answer)));
        for code in Code::ALL.into_iter().filter(|code| self.codes.contains(code)) {
            let status = code.status().to_string();
            let name = code.as_str();
            let response = responses.entry(status).or_insert_with(|| {
                let mut response = json!({
                    "description": "",
                    "content": { "application/json": {
                        "schema": { "$ref": "#/components/schemas/Problem" },
                    } },
                });
                if code == Code::Unauthenticated {
                    response["headers"] = json!({ "WWW-Authenticate": {
                        "schema": { "const": "Bearer" }, "required": true,
                    } });
                }
                response
            });
            let before = response["description"].as_str().unwrap_or_default();
            let said =
                if before.is_empty() { format!("`{name}`") } else { format!("{before}, `{name}`") };
            response["description"] = said.into();
        }
        responses.into()
    }
}

/// Bytes in the unit that they are a round number of.
fn size(bytes: usize) -> String {
    match (bytes >> 20, bytes >> 10) {
        (0, kib) => format!("{kib} KiB"),
        (mib, _) => format!("{mib} MiB"),
    }
}

/// What an extractor takes from a request.
pub(super) trait Input {
    fn describe(operation: &mut Operation<'_>);
}

/// What a handler's value is in an answer.
pub(super) trait Output {
    fn describe(operation: &mut Operation<'_>);
}

impl Input for State<Api> {
    fn describe(_: &mut Operation<'_>) {}
}

impl<T: JsonSchema> Input for Json<T> {
    fn describe(operation: &mut Operation<'_>) {
        let schema = operation.schema::<T>();
        operation.takes("application/json", &schema);
    }
}

impl<T: JsonSchema> Input for Path<T> {
    fn describe(operation: &mut Operation<'_>) {
        let names: Vec<&str> = operation
            .path
            .split('/')
            .filter_map(|part| part.strip_prefix('{')?.strip_suffix('}'))
            .collect();
        let whole = operation.schema::<T>();
        for (place, name) in names.iter().enumerate() {
            // Several are taken as a tuple.
            let schema = match whole.get("prefixItems").and_then(|items| items.get(place)) {
                Some(item) => item.clone(),
                None => whole.clone(),
            };
            operation.parameters.push(json!({
                "in": "path", "name": name, "required": true, "schema": schema,
            }));
        }
        operation.codes.push(Code::Malformed);
    }
}

impl<T: JsonSchema> Input for Query<T> {
    fn describe(operation: &mut Operation<'_>) {
        let mut whole = T::json_schema(operation.schemas);
        RecursiveTransform(settle).transform(&mut whole);
        let whole = whole.to_value();
        let required = |name: &str| {
            let required = whole.get("required").and_then(Value::as_array);
            required.is_some_and(|names| names.iter().any(|of| of == name))
        };
        for (name, schema) in
            whole.get("properties").and_then(Value::as_object).into_iter().flatten()
        {
            let mut schema = schema.clone();
            let about = schema.as_object_mut().and_then(|schema| schema.remove("description"));
            let mut parameter = json!({
                "in": "query", "name": name, "required": required(name), "schema": present(schema),
            });
            if let Some(about) = about {
                parameter["description"] = about;
            }
            operation.parameters.push(parameter);
        }
        operation.codes.push(Code::Malformed);
    }
}

/// The schema of a parameter that is there: one that is left out is not sent as `null`.
fn present(mut schema: Value) -> Value {
    if let Some(Value::Array(types)) = schema.get_mut("type") {
        types.retain(|of| of != "null");
        if let [one] = types.as_slice() {
            schema["type"] = one.clone();
        }
    }
    if let Some(Value::Array(any)) = schema.get_mut("anyOf") {
        any.retain(|of| of["type"] != "null");
        if let [one] = any.as_slice() {
            return one.clone();
        }
    }
    if schema.get("default").is_some_and(Value::is_null)
        && let Some(schema) = schema.as_object_mut()
    {
        schema.remove("default");
    }
    schema
}

impl<T: JsonSchema> Output for Json<T> {
    fn describe(operation: &mut Operation<'_>) {
        let schema = operation.schema::<T>();
        operation.gives("application/json", &schema);
    }
}

impl<T: Output> Output for Result<T, Answer> {
    fn describe(operation: &mut Operation<'_>) {
        T::describe(operation);
    }
}

/// A handler whose signature is described.
pub(super) trait Describe<T>: Handler<T, Api> {
    fn describe(operation: &mut Operation<'_>);
}

macro_rules! described {
    ($($input:ident),*) => {
        impl<F, Fut, Out, M, $($input,)*> Describe<(M, $($input,)*)> for F
        where
            F: Handler<(M, $($input,)*), Api> + FnOnce($($input),*) -> Fut,
            Fut: Future<Output = Out>,
            Out: Output,
            $($input: Input,)*
        {
            fn describe(operation: &mut Operation<'_>) {
                $($input::describe(operation);)*
                Out::describe(operation);
            }
        }
    };
}

described!(A);
described!(A, B);
described!(A, B, C);
described!(A, B, C, D);
described!(A, B, C, D, E);

impl<F, Fut, Out> Describe<((),)> for F
where
    F: Handler<((),), Api> + FnOnce() -> Fut,
    Fut: Future<Output = Out>,
    Out: Output,
{
    fn describe(operation: &mut Operation<'_>) {
        Out::describe(operation);
    }
}

/// Numbers within what they are read into, which their formats say and no validator looks at; lists as they are read; and
/// descriptions without the brackets of links between types.
pub(crate) fn settle(schema: &mut Schema) {
    let Some(schema) = schema.as_object_mut() else { return };
    // A set that is sent with one thing twice is read as the set that it is.
    schema.remove("uniqueItems");
    let bounds = match schema.get("format").and_then(Value::as_str) {
        Some("int64") => Some((json!(i64::MIN), json!(i64::MAX))),
        Some("uint64" | "uint") => Some((json!(0), json!(u64::MAX))),
        Some("uint32") => Some((json!(0), json!(u32::MAX))),
        _ => None,
    };
    if let Some((least, most)) = bounds {
        schema.entry("minimum").or_insert(least);
        schema.entry("maximum").or_insert(most);
    }
    if let Some(Value::String(about)) = schema.get_mut("description") {
        *about = about.replace("[`", "`").replace("`]", "`").replace('\n', " ");
    }
}

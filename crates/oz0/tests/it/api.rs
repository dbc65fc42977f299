//! The HTTP surfaces of real processes, from outside: what the edge's own description says of it, and what strangers try.
//!
//! Routes are read from `/openapi.json`, so that a new one is tried without being named here.

mod conforms;
mod refuses;
mod tokens;
mod wire;

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use serde_json::{Value, json};

use self::wire::{Address, Answer, Request};
use crate::apart::Machines;
use crate::running::Running;

/// A running edge, its description, and a token of each kind.
struct House {
    machines: Machines,
    edge: Running,
    url: String,
    document: Value,
    /// Tokens that count, by their kind.
    tokens: BTreeMap<&'static str, String>,
    /// Tokens that do not count, by what is wrong with them.
    void: BTreeMap<&'static str, String>,
}

impl House {
    fn new() -> Self {
        let machines = Machines::new();
        let made = |arguments: &[&str]| {
            machines.done("edge", &[&["token", "create"], arguments].concat()).trim().to_owned()
        };
        let other = Machines::new();
        let (running, _) = other.edge("127.0.0.1:0");
        let foreign = admin_of(&other);
        drop(running);

        let (edge, url) = machines.edge("127.0.0.1:0");
        let address = Address::of(&url);
        let document = Request::get("/openapi.json").send(&address).json();
        let used = made(&["--node", "node-1"]);
        let joined = Request::post("/v1/join", "null").token(&used).send(&address);
        let node = joined.json()["secret"].as_str().expect("it joined").to_owned();
        let revoked = machines.json("edge", &["token", "create", "--admin", "gone", "--json"]);
        machines
            .done("edge", &["token", "revoke", revoked["token"]["id"].as_str().expect("an ID")]);

        let tokens = BTreeMap::from([
            ("admin", admin_of(&machines)),
            ("node", node),
            ("client", made(&["--client", "somebody"])),
            ("join", made(&["--node", "node-2"])),
            ("viewer", made(&["--viewer", "reader"])),
        ]);
        let void = BTreeMap::from([
            ("another edge's", foreign),
            ("revoked", revoked["secret"].as_str().expect("a secret").to_owned()),
            ("a join token that was used", used),
            ("nobody's", "oz0_0123456789abcdef".to_owned()),
            ("empty", String::new()),
        ]);
        Self { machines, edge, url, document, tokens, void }
    }

    fn address(&self) -> Address {
        Address::of(&self.url)
    }

    /// The socket in the data folder.
    fn socket(&self) -> Address {
        Address::Unix(self.machines.path("edge").join("oz0.sock"))
    }

    fn operations(&self) -> Vec<Operation> {
        let mut operations = Vec::new();
        for (path, methods) in self.document["paths"].as_object().expect("paths") {
            for (method, described) in methods.as_object().expect("methods") {
                operations.push(Operation::of(&self.document, path, method, described));
            }
        }
        assert!(operations.len() > 30, "the description has all routes");
        operations
    }

    /// A token with which this may be done.
    fn token_for(&self, operation: &Operation) -> Option<&str> {
        let kind = operation.kinds.first()?;
        Some(self.tokens.get(kind.as_str()).unwrap_or_else(|| panic!("a token of kind {kind}")))
    }
}

fn admin_of(machines: &Machines) -> String {
    let file: PathBuf = machines.path("edge").join("admin.token");
    fs::read_to_string(file).expect("the first token").trim().to_owned()
}

/// One operation of the description.
struct Operation {
    method: String,
    /// With something of the right form in the place of each parameter, and no such thing there.
    path: String,
    /// The kinds of token that may do it; none where nobody is asked for one.
    kinds: Vec<String>,
    /// Whether no token is needed over the socket.
    socket: bool,
    /// The media type of the body and its limit in bytes.
    body: Option<(String, u64)>,
    /// The statuses that it may be answered with.
    statuses: Vec<u16>,
}

impl Operation {
    fn of(document: &Value, path: &str, method: &str, described: &Value) -> Self {
        let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
        let mut filled = path.to_owned();
        for parameter in list(&described["parameters"]) {
            if parameter["in"] == "path" {
                let name = parameter["name"].as_str().expect("a name");
                let sample = sample(document, &parameter["schema"]);
                filled = filled.replace(&format!("{{{name}}}"), &sample);
            }
        }
        assert!(!filled.contains('{'), "{path}: every parameter is described");
        let body = described.get("requestBody").map(|body| {
            let media = body["content"].as_object().expect("content").keys().next();
            let limit = body["x-oz0-limit-bytes"].as_u64().expect("a limit");
            (media.expect("a media type").clone(), limit)
        });
        Self {
            method: method.to_ascii_uppercase(),
            path: filled,
            kinds: list(&described["security"])
                .iter()
                .flat_map(|scheme| scheme.as_object().expect("a scheme").keys().cloned())
                .collect(),
            socket: described["x-oz0-socket-without-token"] == json!(true),
            body,
            statuses: described["responses"]
                .as_object()
                .expect("responses")
                .keys()
                .map(|status| status.parse().expect("a status"))
                .collect(),
        }
    }

    /// A request that is done nothing by: where it has a body, that is of a type that is taken nowhere.
    fn harmless(&self) -> Request {
        let request = Request::new(&self.method, &self.path);
        if self.body.is_some() { request.body("text/plain", "nothing") } else { request }
    }

    fn name(&self) -> String {
        format!("{} {}", self.method, self.path)
    }
}

/// A value of the form that a parameter's schema asks for.
fn sample(document: &Value, schema: &Value) -> String {
    let mut whole = json!({ "components": document["components"] });
    whole
        .as_object_mut()
        .expect("an object")
        .extend(schema.as_object().cloned().expect("a schema"));
    let validator = jsonschema::validator_for(&whole).expect("a schema");
    let hex = |digits: usize| "0".repeat(digits);
    let digest = format!("sha256:{}", hex(64));
    let known = ["none".to_owned(), hex(16), hex(32), hex(64), digest, "none.none".to_owned()];
    let found = known.into_iter().find(|text| validator.is_valid(&json!(text)));
    found.unwrap_or_else(|| panic!("a sample of this form is needed in tests/it/api.rs: {schema}"))
}

/// The code of a problem.
fn code(answer: &Answer) -> String {
    answer.json()["code"].as_str().unwrap_or_default().to_owned()
}

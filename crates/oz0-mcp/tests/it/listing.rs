//! Listings: pages, bounds, shapes, and that functions stay as the server wrote them.

use std::time::{Duration, Instant};

use oz0_mcp::{
    Client, ClientOptions, Era, EraChoice, Limits, ListError, ProtocolVersion, Timeouts,
};
use serde_json::{Value, json};

use crate::actor;

async fn listed(script: Value, options: &ClientOptions) -> Result<Vec<String>, ListError> {
    let (client, _actor) = actor::stdio(script, options).await;
    let listing = client.expect("the connection opens").list_functions().await?;
    Ok(listing.functions.iter().map(|function| function.get().to_owned()).collect())
}

fn legacy() -> ClientOptions {
    ClientOptions { era: EraChoice::Legacy, ..ClientOptions::default() }
}

/// Each odd, each JSON, each to come through as it is.
const ODD: [&str; 8] = [
    r#"{"name":"b","inputSchema":{"default":1.0e+2,"z":1,"a":2}}"#,
    r#"{"name":"twice","name":"again"}"#,
    r#"{"name":"surrogate \ud800"}"#,
    r#"{ "name" : "spaced" }"#,
    "null",
    "\"text\"",
    "{\"name\":\"ünïcode \u{200b}\"}",
    r#"{"name":"annotated","annotations":{"readOnlyHint":"yes"},"unknown":[1,2]}"#,
];

#[tokio::test]
async fn functions_come_through_as_they_were_written() {
    let functions = listed(json!({"functions": ODD}), &legacy()).await.unwrap();
    assert_eq!(functions, ODD);
}

#[tokio::test]
async fn both_eras_and_every_transport_give_one_listing() {
    let script = json!({"functions": ODD, "paging": {"size": 3}});
    let mut old = script.clone();
    old["http"] = json!({"two_endpoints": true});
    old["versions"] = json!(["2024-11-05"]);
    let (url, _actor) = actor::serve(script.clone()).await;
    let (old_url, _old_actor) = actor::serve(old).await;
    let options = |era| ClientOptions { era, ..ClientOptions::default() };
    let mut actors = Vec::new();
    let mut seen = Vec::new();
    for (era, spoken) in [
        (EraChoice::Probe, Era::Modern),
        (EraChoice::Modern, Era::Modern),
        (EraChoice::Legacy, Era::Legacy),
    ] {
        let (client, actor) = actor::stdio(script.clone(), &options(era)).await;
        actors.push(actor);
        seen.push((client.unwrap(), spoken));
        seen.push((actor::http(&url, &options(era)).await.unwrap(), spoken));
    }
    let client = actor::http(&old_url, &options(EraChoice::Probe)).await.unwrap();
    assert_eq!(client.protocol(), ProtocolVersion::V2024_11_05);
    seen.push((client, Era::Legacy));
    for (client, spoken) in seen {
        assert_eq!(client.era(), spoken);
        let listing = client.list_functions().await.unwrap();
        assert_eq!(listing.pages, 3);
        let texts: Vec<&str> = listing.functions.iter().map(|function| function.get()).collect();
        assert_eq!(texts, ODD);
        client.close().await;
    }
}

#[tokio::test]
async fn an_empty_cursor_is_a_cursor() {
    let functions: Vec<String> = (0..5).map(|n| format!(r#"{{"name":"f{n}"}}"#)).collect();
    let script = json!({"functions": functions, "paging": {"size": 2, "fault": "empty_cursor"}});
    assert_eq!(listed(script, &legacy()).await.unwrap(), functions);
}

#[tokio::test]
async fn a_cursor_that_comes_again_is_refused() {
    let script = json!({"functions": ODD, "paging": {"fault": "repeated_cursor"}});
    let error = listed(script, &legacy()).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "could not list the server's functions: page 2 repeats the cursor \"again\", so its pages never end"
    );
}

#[tokio::test]
async fn endless_pages_end_at_the_limit_of_functions() {
    let script = json!({"functions": ODD, "paging": {"fault": "endless"}});
    let mut options = legacy();
    options.limits.functions = 50;
    let error = listed(script.clone(), &options).await.unwrap_err();
    assert_eq!(error.to_string(), "could not list the server's functions: it lists more than 50");
    options.limits = Limits { listing: 4096, ..Limits::default() };
    let error = listed(script, &options).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "could not list the server's functions: the listing is longer than 4096 bytes"
    );
}

#[tokio::test]
async fn endless_empty_pages_end_at_the_limit_of_pages() {
    let script = json!({"functions": [], "paging": {"fault": "endless"}});
    let mut options = legacy();
    options.limits.pages = 20;
    let error = listed(script, &options).await.unwrap_err();
    assert!(matches!(error, ListError::TooManyPages { limit: 20 }), "{error}");
}

#[tokio::test]
async fn as_many_functions_as_the_limit_are_taken() {
    let mut options = legacy();
    options.limits.functions = ODD.len();
    assert_eq!(listed(json!({"functions": ODD}), &options).await.unwrap(), ODD);
    options.limits.functions -= 1;
    assert!(listed(json!({"functions": ODD}), &options).await.is_err());
}

#[tokio::test]
async fn a_whole_listing_has_one_time_limit() {
    let script = json!({
        "functions": ODD,
        "paging": {"fault": "endless"},
        "on": {"tools/list": [{"steps": [{"delay_ms": 60}]}]},
    });
    let timeouts = Timeouts { listing: Duration::from_millis(300), ..Timeouts::default() };
    let options = ClientOptions { timeouts, ..legacy() };
    let start = Instant::now();
    let error = listed(script, &options).await.unwrap_err();
    assert!(matches!(error, ListError::TimedOut { .. }), "{error}");
    assert!(start.elapsed() < Duration::from_secs(20));
}

async fn shape(result: &str) -> String {
    let script = json!({"on": {"tools/list": [{"steps": [{"result": result}]}]}});
    let error = listed(script, &legacy()).await.unwrap_err().to_string();
    error.strip_prefix("could not list the server's functions: page 1: ").unwrap().to_owned()
}

#[tokio::test]
async fn a_result_that_is_no_listing_says_what_is_wrong() {
    assert_eq!(shape("{}").await, "its result has no `tools`");
    assert_eq!(shape(r#"{"tools":{}}"#).await, "`tools` of its result is not an array");
    assert_eq!(shape(r#"{"tools":null}"#).await, "`tools` of its result is not an array");
    assert_eq!(
        shape(r#"{"tools":[],"nextCursor":7}"#).await,
        "`nextCursor` of its result is not a string"
    );
    assert_eq!(
        shape(r#"{"tools":[],"tools":[]}"#).await,
        "the member `tools` of its result stands twice"
    );
    assert_eq!(
        shape(r#"{"resultType":"input_required","tools":[]}"#).await,
        "its `resultType` is not \"complete\""
    );
    assert!(shape("[]").await.starts_with("its result is no object"));
}

#[tokio::test]
async fn a_function_that_is_no_json_fails_the_call_and_says_so() {
    let script = json!({"functions": [r#"{"name":"broken""#]});
    let options = ClientOptions {
        timeouts: Timeouts { call: Duration::from_millis(1500), ..Timeouts::default() },
        ..legacy()
    };
    let error = listed(script, &options).await.unwrap_err().to_string();
    assert!(error.contains("it also wrote what is no message"), "{error}");
}

#[tokio::test]
async fn a_listing_file_is_read_anew_each_time() {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), "{\"name\":\"one\"}\n").unwrap();
    let (client, _actor): (_, actor::Actor) =
        actor::stdio(json!({"functions_file": file.path()}), &legacy()).await;
    let client: Client = client.unwrap();
    assert_eq!(client.list_functions().await.unwrap().functions[0].get(), r#"{"name":"one"}"#);
    std::fs::write(file.path(), "{\"name\":\"two\"}\n").unwrap();
    assert_eq!(client.list_functions().await.unwrap().functions[0].get(), r#"{"name":"two"}"#);
}

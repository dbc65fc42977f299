//! Listings whose author wants them to be more than text.

use std::time::{Duration, Instant};

use serde_json::json;

use super::browser::{Browser, Scheme};
use crate::operator::house::{House, function};

#[tokio::test(flavor = "multi_thread")]
async fn markup_and_hidden_characters_are_text() {
    let (house, plugin) = House::with("team", &[&function("hello", "One.")]);
    let evil = "<script>document.title='owned'</script><img src=x onerror=\"document.title='owned'\">\n\
                {{7*7}} \u{202E}desrever\u{202C} a\u{200B}b \u{E0041}\u{E0042} <a href='javascript:alert(1)'>x</a>";
    let property = "\"><b>x</b>";
    let listing = json!({"name": "hello", "title": "<h1>Big</h1>", "description": evil,
        "annotations": {"readOnlyHint": true},
        "inputSchema": {"type": "object", "properties": {property: {"type": "string", "description": evil}}}});
    plugin.list(&[&listing.to_string()]);
    house.wait_for_changes("team", 1);
    let browser = Browser::signed_in(&house, Scheme::Light).await;
    browser.open("/plugins/team").await;
    browser.wait_for("article.change").await;
    let elements = "return document.querySelectorAll('main script, main img, main b, main a[href^=javascript], main [onerror], main [style]').length";
    assert_eq!(browser.script(elements, Vec::new()).await, json!(0));
    let text = browser.text("article.change").await;
    assert!(text.contains("<script>document.title='owned'</script>"), "{text}");
    for escape in ["\\u{202E}", "\\u{200B}", "\\u{E0041}"] {
        assert!(text.contains(escape), "{escape}: {text}");
    }
    assert!(browser.text(".legend").await.contains("says “A” to a model"));
    browser.press("article.change form button").await;
    browser.wait_for_text("#notice", "Approved").await;
    for path in ["/tools", "/tools/team.hello", "/audit", "/plugins", "/"] {
        browser.open(path).await;
        assert_eq!(browser.script(elements, Vec::new()).await, json!(0), "{path}");
        assert_ne!(browser.page.title().await.unwrap(), "owned");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_megabyte_and_ten_thousand_functions_are_shown() {
    let long = "word ".repeat(200_000);
    let mut functions = vec![function("a_long", &long)];
    functions.extend((0..9_998).map(|n| function(&format!("f{n}"), "One of many.")));
    let (house, plugin) = House::with("team", &[&function("first", "One.")]);
    let browser = Browser::signed_in(&house, Scheme::Light).await;
    plugin.list(&functions.iter().map(String::as_str).collect::<Vec<_>>());
    // The edge reads, compares and writes down all of it, in a build that nobody made quick.
    let until = Instant::now() + Duration::from_mins(10);
    loop {
        browser.open("/plugins").await;
        if browser.text("main").await.contains("10000 waiting") {
            break;
        }
        assert!(Instant::now() < until, "{}", browser.text("main").await);
        tokio::time::sleep(Duration::from_millis(500)).await;
    }
    browser.open("/plugins/team").await;
    browser.wait_for("article.change").await;
    // What is on a page can be read, so what is approved at once is what is on it.
    let shown = browser
        .script("return document.querySelectorAll('article.change').length", Vec::new())
        .await;
    assert_eq!(shown, json!(50));
    assert!(browser.text("#approve-all").await.contains("1–50 of"));
    let read = "return document.querySelector('article.change').textContent.length";
    assert!(
        browser.script(read, Vec::new()).await.as_u64() > Some(1_000_000),
        "all of it can be read"
    );
    let wide = "return document.documentElement.scrollWidth <= window.innerWidth";
    assert_eq!(browser.script(wide, Vec::new()).await, json!(true));
    let last = browser
        .script("return document.querySelector('#changes .pager').textContent", Vec::new())
        .await;
    assert!(last.as_str().expect("text").contains("of 10000"), "{last}");
}

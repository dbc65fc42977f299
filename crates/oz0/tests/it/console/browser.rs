//! A Chromium of its own for each test, driven over `WebDriver`.
//!
//! Debian's `chromium` and `chromium-driver`, which `cargo xtask setup` installs. Each has a new, empty profile, and asks nobody
//! for anything: what a test sees was served by the edge under test.

use std::io::{BufRead as _, BufReader};
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use fantoccini::wd::Capabilities;
use fantoccini::{Client, ClientBuilder, Locator};
use hyper_util::client::legacy::connect::HttpConnector;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::operator::house::House;

/// How the system asks pages to look.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Scheme {
    Light,
    Dark,
}

/// A browser with one window.
pub(crate) struct Browser {
    pub(crate) page: Client,
    driver: Child,
    _profile: TempDir,
    pub(crate) edge: String,
}

impl Drop for Browser {
    fn drop(&mut self) {
        // The driver ends its browser; what it leaves is in its process group.
        let id = self.driver.id();
        let _ = Command::new("kill").args(["-TERM", &id.to_string()]).status();
        let _ = self.driver.wait();
        let group = format!("-{id}");
        let _ = Command::new("kill").args(["-KILL", "--", &group]).stderr(Stdio::null()).status();
    }
}

impl Browser {
    pub(crate) async fn start(house: &House, scheme: Scheme) -> Self {
        Self::start_on(house, scheme, None).await
    }

    /// On a screen of so many pixels across, which may be fewer than a window has at least.
    pub(crate) async fn start_on(house: &House, scheme: Scheme, across: Option<u32>) -> Self {
        let profile = TempDir::new().expect("a folder");
        let mut driver = Command::new("chromedriver")
            .arg("--port=0")
            .env("HOME", profile.path())
            .process_group(0)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("chromedriver is installed: cargo xtask setup");
        let mut lines = BufReader::new(driver.stdout.take().expect("it is piped")).lines();
        let port = loop {
            let line = lines.next().expect("it says where it is").expect("text");
            if let Some(port) = line.split("successfully on port ").nth(1) {
                break port.trim_end_matches('.').to_owned();
            }
        };
        std::thread::spawn(move || lines.for_each(drop));
        let dark =
            format!("--blink-settings=preferredColorScheme={}", i32::from(scheme == Scheme::Light));
        let user_data = format!("--user-data-dir={}", profile.path().join("profile").display());
        let flags = [
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-quic",
            "--no-first-run",
            "--disable-background-networking",
            "--disable-component-update",
            "--disable-sync",
            "--disable-dev-shm-usage",
            "--window-size=1280,900",
            &dark,
            &user_data,
        ];
        let mut options = json!({"browserName": "chrome", "goog:chromeOptions": {"args": flags}});
        if let Some(width) = across {
            options["goog:chromeOptions"]["mobileEmulation"] = json!({
                "deviceMetrics": {"width": width, "height": 800, "pixelRatio": 1.0, "touch": false},
            });
        }
        let capabilities: Capabilities = options.as_object().expect("an object").clone();
        let page = ClientBuilder::new(HttpConnector::new())
            .capabilities(capabilities)
            .connect(&format!("http://127.0.0.1:{port}"))
            .await
            .expect("chromium starts");
        Self { page, driver, _profile: profile, edge: house.edge() }
    }

    /// One that is signed in with the data folder's admin token, on Home.
    pub(crate) async fn signed_in(house: &House, scheme: Scheme) -> Self {
        let browser = Self::start(house, scheme).await;
        let token = std::fs::read_to_string(house.data().join("admin.token")).expect("a token");
        browser.sign_in(token.trim()).await;
        browser
    }

    pub(crate) async fn sign_in(&self, token: &str) {
        self.open("/").await;
        self.fill("#token", token).await;
        self.press("main button").await;
        self.wait_for("nav[aria-label=Main]").await;
    }

    pub(crate) async fn open(&self, path: &str) {
        self.page.goto(&format!("{}{path}", self.edge)).await.expect("the page loads");
    }

    pub(crate) async fn wait_for(&self, selector: &str) -> fantoccini::elements::Element {
        let found = self
            .page
            .wait()
            .at_most(Duration::from_mins(1))
            .every(Duration::from_millis(20))
            .for_element(Locator::Css(selector))
            .await;
        match found {
            Ok(found) => found,
            Err(error) => panic!("{selector}: {error}\n{}", self.text("body").await),
        }
    }

    pub(crate) async fn press(&self, selector: &str) {
        self.wait_for(selector).await.click().await.expect("it can be pressed");
    }

    pub(crate) async fn fill(&self, selector: &str, text: &str) {
        let field = self.wait_for(selector).await;
        field.clear().await.expect("it can be cleared");
        field.send_keys(text).await.expect("it can be typed into");
    }

    /// The text of an element as it stands there, seen or not.
    pub(crate) async fn text(&self, selector: &str) -> String {
        let script =
            "const one = document.querySelector(arguments[0]); return one ? one.textContent : '';";
        let text = self.script(script, vec![json!(selector)]).await;
        text.as_str().unwrap_or_default().split_whitespace().collect::<Vec<_>>().join(" ")
    }

    pub(crate) async fn script(&self, script: &str, arguments: Vec<Value>) -> Value {
        self.page.execute(script, arguments).await.expect("the script runs")
    }

    /// Waits until an element's text holds this.
    pub(crate) async fn wait_for_text(&self, selector: &str, wanted: &str) {
        let until = Instant::now() + Duration::from_mins(1);
        while !self.text(selector).await.contains(wanted) {
            let late = Instant::now() >= until;
            assert!(!late, "`{wanted}` in {selector}:\n{}", self.text("body").await);
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    /// Waits until the page follows what happens.
    pub(crate) async fn wait_until_following(&self) {
        self.wait_for("body[data-following=yes]").await;
    }

    /// A picture of the whole page.
    pub(crate) async fn picture(&self) -> Vec<u8> {
        let height = self.script("return document.documentElement.scrollHeight", Vec::new()).await;
        let height = height.as_u64().unwrap_or(900).clamp(600, 3000);
        let width = self.script("return window.innerWidth", Vec::new()).await;
        let width = u32::try_from(width.as_u64().unwrap_or(1280)).expect("a width");
        let height = u32::try_from(height).expect("a height");
        // A window has a frame, also where nobody sees it.
        self.page.set_window_size(width, height + 150).await.expect("it can be sized");
        self.page.screenshot().await.expect("a picture")
    }
}

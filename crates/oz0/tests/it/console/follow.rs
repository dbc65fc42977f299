//! Two tabs of one browser, and a connection that is lost.

use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;

use super::browser::{Browser, Scheme};
use crate::operator::house::{House, function};

#[tokio::test(flavor = "multi_thread")]
async fn what_is_approved_in_one_tab_is_gone_from_the_other() {
    let (house, plugin) = House::with("team", &[&function("hello", "One.")]);
    plugin.list(&[&function("hello", "Two.")]);
    house.wait_for_changes("team", 1);
    let browser = Browser::signed_in(&house, Scheme::Light).await;
    browser.open("/plugins/team").await;
    browser.wait_until_following().await;
    browser.wait_for("article.change").await;
    let one = browser.page.window().await.unwrap();
    let other = browser.page.new_window(true).await.unwrap().handle;
    browser.page.switch_to_window(other).await.unwrap();
    browser.open("/plugins/team").await;
    browser.press("article.change form button").await;
    browser.wait_for_text("#notice", "Approved 1 change").await;
    browser.page.switch_to_window(one).await.unwrap();
    browser.wait_for_text("#changes", "Nothing waits").await;
    // It was not loaded anew: it asked for itself.
    let asked = browser.script("return Number(document.body.dataset.refreshed)", Vec::new()).await;
    assert!(asked.as_u64() >= Some(1), "{asked}");
}

/// A wire to the edge that can be cut.
struct Wire {
    url: String,
    whole: Arc<AtomicBool>,
    ends: Arc<Mutex<Vec<TcpStream>>>,
}

impl Wire {
    fn to(house: &House) -> Self {
        let edge = house.edge().strip_prefix("http://").expect("plain HTTP").to_owned();
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let url = format!("http://{}", listener.local_addr().expect("its address"));
        let (whole, ends) = (Arc::new(AtomicBool::new(true)), Arc::new(Mutex::new(Vec::new())));
        let (is_whole, all) = (Arc::clone(&whole), Arc::clone(&ends));
        thread::spawn(move || {
            for here in listener.incoming().flatten() {
                if !is_whole.load(Ordering::SeqCst) {
                    continue;
                }
                let Ok(there) = TcpStream::connect(&edge) else { continue };
                let copy = |stream: &TcpStream| stream.try_clone().expect("it can be shared");
                all.lock().expect("nobody panicked").extend([copy(&here), copy(&there)]);
                for (mut from, mut to) in [(copy(&here), copy(&there)), (there, here)] {
                    thread::spawn(move || {
                        let _ = std::io::copy(&mut from, &mut to);
                        let _ = to.shutdown(Shutdown::Write);
                    });
                }
            }
        });
        Self { url, whole, ends }
    }

    fn cut(&self) {
        self.whole.store(false, Ordering::SeqCst);
        for end in self.ends.lock().expect("nobody panicked").drain(..) {
            let _ = end.shutdown(Shutdown::Both);
        }
    }

    fn mend(&self) {
        self.whole.store(true, Ordering::SeqCst);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_lost_connection_says_so_and_what_was_missed_is_shown_when_it_is_back() {
    let (house, plugin) = House::with("team", &[&function("hello", "One.")]);
    let wire = Wire::to(&house);
    let mut browser = Browser::start(&house, Scheme::Light).await;
    browser.edge.clone_from(&wire.url);
    let token = std::fs::read_to_string(house.data().join("admin.token")).expect("a token");
    browser.sign_in(token.trim()).await;
    browser.wait_until_following().await;
    wire.cut();
    browser.wait_for("#lost:not([hidden])").await;
    assert!(browser.text("#lost").await.contains("is lost"));
    plugin.list(&[&function("hello", "Two.")]);
    house.wait_for_changes("team", 1);
    assert!(browser.text("main").await.contains("Nothing waits"), "nobody told it");
    wire.mend();
    browser.wait_for_text(".inbox", "1 change of team waits for approval").await;
    browser.wait_for("#lost[hidden]").await;
}

//! Names that could pass for one another, across plugins.

use oz0_api::Code;
use oz0_api::node::PollQuery;
use oz0_api::plugin::FunctionState;

use crate::house::{House, plugin, refused, tell};

fn left_out(plugin: &str, function: &str) -> FunctionState {
    FunctionState::LeftOut { plugin: plugin.parse().unwrap(), function: function.parse().unwrap() }
}

#[tokio::test]
async fn the_second_plugin_with_a_tool_id_is_refused() {
    let house = House::new().await;
    house.install(&plugin("one", "1.0.0", &["same", "a"])).await;
    assert_eq!(
        refused(house.try_install(&plugin("two", "1.0.0", &["b", "same"])).await),
        Code::Conflict
    );
    house.admin.remove(&"one".parse().unwrap()).await.unwrap();
    house.install(&plugin("two", "1.0.0", &["b", "same"])).await;
    assert_eq!(
        refused(house.try_install(&plugin("one", "1.0.0", &["same", "a"])).await),
        Code::Conflict
    );
}

#[tokio::test]
async fn of_two_functions_with_one_model_name_the_first_approved_stays() {
    let house = House::new().await;
    let node = house.node("node-1").await;
    let (one, two) = (plugin("one", "1.0.0", &["a"]), plugin("two", "1.0.0", &["a__b"]));
    house.install(&one).await;
    house.install(&two).await;
    // a.b__c and a__b.c both reach models as a__b__c.
    tell(&node, &two, "a__b", &[("c", "Second plugin, first listing."), ("free", "Free.")]).await;
    tell(&node, &one, "a", &[("b__c", "The newcomer.")]).await;
    let states = house.states().await;
    assert_eq!(states["a__b.c"], FunctionState::Callable);
    assert_eq!(states["a__b.free"], FunctionState::Callable);
    assert_eq!(states["a.b__c"], left_out("two", "a__b.c"));
    let poll = node.poll(&PollQuery { wait: Some(0), ..PollQuery::default() }).await.unwrap();
    let newcomer = poll
        .decisions
        .changed
        .iter()
        .find(|decision| decision.function.as_str() == "a.b__c")
        .unwrap();
    assert_eq!(newcomer.left_out_for, Some("a__b.c".parse().unwrap()));

    // An update of the first keeps its name, also before it was listed.
    let next = plugin("two", "1.1.0", &["a__b"]);
    house.install(&next).await;
    assert_eq!(house.states().await["a.b__c"], left_out("two", "a__b.c"));
    tell(&node, &next, "a__b", &[("c", "Anew."), ("free", "Free.")]).await;
    assert_eq!(house.states().await["a.b__c"], left_out("two", "a__b.c"));

    // Its removal frees the name, and nodes are told; back again, it is the newcomer.
    let after = node.poll(&PollQuery { wait: Some(0), ..PollQuery::default() }).await.unwrap();
    house.admin.remove(&next.name).await.unwrap();
    assert_eq!(house.states().await["a.b__c"], FunctionState::Callable);
    let query = PollQuery {
        edge: Some(after.edge),
        plugins: after.plugins.revision,
        decisions: after.decisions.revision,
        wait: Some(0),
        ..PollQuery::default()
    };
    let told = node.poll(&query).await.unwrap();
    assert!(told.decisions.changed.iter().any(|decision| {
        decision.function.as_str() == "a.b__c" && decision.left_out_for.is_none()
    }));
    house.install(&next).await;
    assert_eq!(house.states().await["a__b.c"], left_out("one", "a.b__c"));
}

#[tokio::test]
async fn a_function_whose_removal_was_approved_gives_its_name_up() {
    let house = House::new().await;
    let node = house.node("node-1").await;
    let (one, two) = (plugin("one", "1.0.0", &["a"]), plugin("two", "1.0.0", &["a__b"]));
    house.install(&one).await;
    house.install(&two).await;
    tell(&node, &one, "a", &[("b__c", "First."), ("more", "More.")]).await;
    tell(&node, &two, "a__b", &[("c", "Second.")]).await;
    tell(&node, &one, "a", &[("more", "More.")]).await;
    assert_eq!(house.states().await["a__b.c"], left_out("one", "a.b__c"), "gone, not approved");
    house.approve_all("one").await;
    assert_eq!(house.states().await["a__b.c"], FunctionState::Callable);
}

#[tokio::test]
async fn inside_one_plugin_both_functions_of_one_model_name_are_left_out_and_shown() {
    let house = House::new().await;
    let node = house.node("node-1").await;
    let one = plugin("one", "1.0.0", &["a", "a__b"]);
    house.install(&one).await;
    tell(&node, &one, "a", &[("b__c", "First."), ("free", "Free.")]).await;
    assert_eq!(house.states().await["a.b__c"], FunctionState::Callable);
    tell(&node, &one, "a__b", &[("c", "Its twin.")]).await;
    let states = house.states().await;
    assert_eq!(states["a.b__c"], left_out("one", "a__b.c"));
    assert_eq!(states["a__b.c"], left_out("one", "a.b__c"));
    assert_eq!(states["a.free"], FunctionState::Callable);
    let poll = node.poll(&PollQuery { wait: Some(0), ..PollQuery::default() }).await.unwrap();
    let barred = poll.decisions.changed.iter().filter(|one| one.left_out_for.is_some());
    assert_eq!(barred.count(), 2);

    // The same where a twin turns up later, and nobody has approved it.
    let two = plugin("two", "1.0.0", &["x", "x__y"]);
    house.install(&two).await;
    tell(&node, &two, "x", &[("y__z", "First.")]).await;
    tell(&node, &two, "x__y", &[("other", "-")]).await;
    tell(&node, &two, "x__y", &[("other", "-"), ("z", "A twin.")]).await;
    let states = house.states().await;
    assert_eq!(states["x.y__z"], left_out("two", "x__y.z"));
    assert_eq!(states["x__y.z"], left_out("two", "x.y__z"));
    tell(&node, &two, "x__y", &[("other", "-")]).await;
    assert_eq!(house.states().await["x.y__z"], FunctionState::Callable);
}

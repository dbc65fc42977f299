use oz0_yaml::edit::*;
#[test]
fn dbg() {
    let t = "alpha:\n- |\n  one\n\n    two # no comment\n- plain text";
        println!("{:?}", splices(t, &[Change::Remove { path: vec![PathStep::Key("alpha"), PathStep::Index(0)] }]));
    println!("{:?}", oz0_yaml::parse(t, &oz0_yaml::Limits::MANIFEST));
}

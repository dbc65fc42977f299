use oz0_yaml::{Limits, parse};
#[test]
fn shows() {
    for t in ["a:\nb: # c\nc: |+ # h\n  x\n\n\nd:\n  -\n", "a: [1, 2\nb: 3\nc: 4\n", "name: x\nversion 1.4\nkind: c: d\nt:\n\ta: 1\n\tb: @x\n", "a: &x [*x, *y]\na: !foo 1\n---\nb: 1\n", "a: \"x\nb: 3\n"] {
        println!("{t:?} {:#?}", parse(t, &Limits::MANIFEST));
    }
}

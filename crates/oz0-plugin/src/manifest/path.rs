//! Paths inside the plugin.

use oz0_yaml::Node;

use crate::check::OZ_L002;
use crate::decode::Context;
use crate::decode::reference::Target;
use crate::decode::text::{Text, text};

/// One name in a path, which is not `.` or `..`.
macro_rules! name {
    () => {
        r"([^./\\\x00-\x1f][^/\\\x00-\x1f]*|\.[^./\\\x00-\x1f][^/\\\x00-\x1f]*|\.\.[^/\\\x00-\x1f]+)"
    };
}

text! {
    /// A path from the plugin's root to a file inside it, with `/`, and without `.` or `..`.
    pub struct FilePath: "a path inside the plugin", &OZ_L002,
    concat!("^", name!(), "(/", name!(), ")*$"),
    "write the path from the plugin's root, with `/`: no leading `/`, no `.` or `..`";

    fn refer(&self, node: &Node, cx: &mut Context<'_>) {
        cx.refer(Target::File(self.0.clone()), cx.span(node.range.clone()));
    }

    fn hint(text: &str) -> Option<String> {
        tidied(text)
    }
}

text! {
    /// A path from the plugin's root to a skill's folder, which holds its SKILL.md.
    pub struct SkillPath: "a path inside the plugin", &OZ_L002,
    concat!("^", name!(), "(/", name!(), ")*$"),
    "write the folder's path from the plugin's root, with `/`: no leading `/`, no `.` or `..`";

    fn refer(&self, node: &Node, cx: &mut Context<'_>) {
        let file = format!("{}/SKILL.md", self.0);
        cx.refer(Target::File(file), cx.span(node.range.clone()));
    }

    fn hint(text: &str) -> Option<String> {
        tidied(text)
    }
}

/// What was meant, where that is plain.
fn tidied(text: &str) -> Option<String> {
    let tidy = text.trim_start_matches("./").trim_end_matches('/').replace('\\', "/");
    (tidy != text && FilePath::pattern().is_match(&tidy)).then(|| format!("write it as {tidy}"))
}

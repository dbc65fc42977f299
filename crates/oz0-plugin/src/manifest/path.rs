//! Paths inside the plugin.

use oz0_yaml::Node;

use crate::check::OZ_L002;
use crate::decode::Context;
use crate::decode::reference::Target;
use crate::decode::text::text;

text! {
    /// A path from the plugin's root to a file or folder inside it, with `/`, and without `.` or `..`.
    pub struct PluginPath: "a path inside the plugin", &OZ_L002,
    r"^([^./\\\x00][^/\\\x00]*|\.[^./\\\x00][^/\\\x00]*|\.\.[^/\\\x00]+)(/([^./\\\x00][^/\\\x00]*|\.[^./\\\x00][^/\\\x00]*|\.\.[^/\\\x00]+))*$",
    "write the path from the plugin's root, with `/`: no leading `/`, no `.` or `..`";

    fn refer(&self, node: &Node, cx: &mut Context<'_>) {
        cx.refer(Target::File(self.0.clone()), cx.span(node.range.clone()));
    }

    fn hint(text: &str) -> Option<String> {
        let bare = text.trim_start_matches("./").trim_end_matches('/');
        let fixed = bare.replace('\\', "/");
        let pattern = <Self as crate::decode::text::Text>::pattern();
        (fixed != text && pattern.is_match(&fixed)).then(|| format!("write it as {fixed}"))
    }
}

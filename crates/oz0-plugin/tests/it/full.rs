//! The manifest with every key.

use std::path::{Path, PathBuf};

use oz0_listing::ToolId;
use oz0_plugin::Plugin;
use oz0_plugin::manifest::{
    Action, Approval, Backend, FunctionTarget, ModelChoice, PackageRef, PolicyMatch,
};

pub(crate) fn path() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/plugins/full")
}

#[test]
fn every_key_decodes() {
    let plugin = Plugin::load(&path()).unwrap();
    assert_eq!(oz0_diagnostic::report::concise(plugin.diagnostics()), "");
    let manifest = plugin.manifest().unwrap();

    assert_eq!(manifest.name.as_str(), "github");
    assert_eq!(manifest.version.to_string(), "1.4.0");
    assert_eq!(manifest.kind.as_ref().unwrap().as_str(), "connector");
    assert_eq!(manifest.egress[0].as_str(), "api.github.com");
    assert_eq!(manifest.egress[0].span.start().line, 8);

    let github = manifest.tools.get("oz0_github").unwrap();
    let Backend::Mcp(mcp) = github.backend() else { panic!("{github:?}") };
    assert_eq!(mcp.argv(), ["python3", "server.py"]);
    assert_eq!(github.variables().collect::<Vec<_>>(), [("LOG_LEVEL", "info")]);
    assert_eq!(github.approval(), Approval::Writes);
    assert_eq!(github.unstable_pointers()["now"].len(), 1);
    let override_ = github.overrides.get("create_issue").unwrap();
    let annotations = override_.annotations.as_ref().unwrap();
    assert!(!annotations.read_only.as_ref().unwrap().value);
    assert_eq!(override_.output_schema.as_ref().unwrap()["type"], "object");

    let git = manifest.tools.get("git").unwrap();
    assert_eq!(git.variables().collect::<Vec<_>>(), [("GIT_AUTHOR_NAME", "oz0")]);
    let Backend::Package(git) = git.backend() else { panic!() };
    assert_eq!(git.exact(), Some("2026.1.14"));
    let Backend::Package(mail) = manifest.tools.get("oz0_mail").unwrap().backend() else {
        panic!()
    };
    assert!(matches!(mail, PackageRef::Npm { name, .. } if name == "@acme/mail"));
    let Backend::Url(url) = manifest.tools.get("tracker").unwrap().backend() else { panic!() };
    assert_eq!(url.params(), ["host"]);
    assert!(url.host_is_param());

    let triage = manifest.agents.get("triage").unwrap();
    assert!(matches!(
        &triage.model.as_ref().unwrap().value,
        ModelChoice::Model(model) if model.alias.as_ref().unwrap().as_str() == "default"
    ));
    assert_eq!(triage.tools[1].plugin.as_ref().unwrap().as_str(), "jira");
    assert_eq!(triage.tools[2].target, FunctionTarget::Platform("ask_user".to_owned()));

    let rule = &manifest.policy[0];
    assert_eq!(rule.action.value, Action::Ask);
    assert!(
        matches!(&rule.matches.value, PolicyMatch::Function(id) if id.tool().as_str() == "oz0_github")
    );
    assert_eq!(rule.when.values().next().unwrap().as_json()["const"], "OPS");
    let uses = manifest.uses.get("jira").unwrap();
    assert_eq!(uses.version.as_ref().unwrap().branches().len(), 1);

    assert_eq!(plugin.comments().len(), 1);
}

#[test]
fn the_folder_says_what_belongs_to_it() {
    let plugin = Plugin::load(&path()).unwrap();
    let git = ToolId::try_from("git").unwrap();
    assert_eq!(plugin.lock(&git).unwrap().path, "locks/git.lock");
    assert!(plugin.lock(&ToolId::try_from("tracker").unwrap()).is_none());
    assert_eq!(plugin.contract_tests().pytest, ["tests/test_contract.py"]);
    assert_eq!(plugin.contract_tests().npm, None);
    assert_eq!(plugin.evals()[0].name, "triage");
    assert_eq!(plugin.evals()[0].eval.as_ref().unwrap().cases[0].name.as_str(), "one");
    assert!(plugin.dependencies().unwrap().python.is_none());
    assert_eq!(plugin.unpackable(), []);
}

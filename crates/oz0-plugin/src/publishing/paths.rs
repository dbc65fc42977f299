//! OZ-L020: what of the folder is no plain file, or has a path that some system cannot hold.

use oz0_diagnostic::Diagnostic;

use super::start_of;
use crate::check::OZ_L020;
use crate::decode::brief;
use crate::{COMPILED_MANIFEST, Plugin, Reason, Spellings, check_path};

pub(super) fn check(plugin: &Plugin) -> Vec<Diagnostic> {
    let mut findings: Vec<Diagnostic> = plugin
        .unpackable()
        .iter()
        .map(|found| {
            let message = match found.reason {
                Reason::NotUtf8 | Reason::ControlCharacter => {
                    format!("it has {}, and a bundle holds none", found.reason)
                }
                _ => format!("it is {}, and a bundle holds plain files only", found.reason),
            };
            let help = match found.reason {
                Reason::NotUtf8 | Reason::ControlCharacter => "rename it",
                Reason::Link => "put the file itself in its place, or name it in .oz0ignore",
                _ => "remove it, or name it in .oz0ignore",
            };
            Diagnostic::new(&OZ_L020, start_of(&found.path), message).help(help)
        })
        .collect();
    let mut seen = Spellings::default();
    let _ = seen.add(COMPILED_MANIFEST);
    for file in plugin.packed() {
        let span = || start_of(&file.path);
        if let Err(fault) = check_path(&file.path) {
            let message = format!("no bundle holds the path: {fault}");
            findings.push(Diagnostic::new(&OZ_L020, span(), message).help("rename it"));
        }
        let Err((path, earlier)) = seen.add(&file.path) else { continue };
        findings.push(if earlier == COMPILED_MANIFEST {
            let message =
                format!("{COMPILED_MANIFEST} is what a bundle calls its compiled manifest");
            Diagnostic::new(&OZ_L020, span(), message)
                .help("remove it, or give it another name; `oz0 plugin pack` writes that file")
        } else {
            let message = format!(
                "{} and {} are one path where names ignore case or Unicode's forms",
                brief(&path),
                brief(&earlier)
            );
            Diagnostic::new(&OZ_L020, span(), message)
                .related(start_of(&earlier), "the other one")
                .help("rename one of them")
        });
    }
    findings
}

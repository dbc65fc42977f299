//! Copies by the names of folders, metadata and archives.

use super::support::{mentions, of_files, unread};

/// What one empty file at this path says.
fn of_path(path: &str) -> Vec<String> {
    let text: &[u8] = if path.ends_with("package.json") { b"{}" } else { b"" };
    let reading = of_files(&[(path, text)]);
    assert_eq!(unread(&reading), Vec::<String>::new(), "{path}");
    mentions(&reading)
}

#[test]
fn an_archive_is_known_by_its_name() {
    for path in [
        "wheels/litellm-1.82.7-py3-none-any.whl",
        "litellm-1.82.7-1-py3-none-any.whl",
        "LiteLLM-1.82.7-py3-none-any.WHL",
        "a/b/litellm-1.82.7.tar.gz",
        "litellm-1.82.7.zip",
        "litellm-1.82.7.tar.bz2",
        "litellm-1.82.7.tar.xz",
        "litellm-1.82.3.rc.1.tar.gz",
        "litellm-1.65.4-stable.tar.gz",
        "litellm-1.55.8-stable.patch1.tar.gz",
        "litellm-v1.65.4-nightly.zip",
        "litellm-main.zip",
        "litellm-0f3a9bc.tar.gz",
        "litellm-1.0.linux-x86_64.tar.gz",
        "litellm.tar.gz",
        "litellm-1.82.7-pyhd8ed1ab_0.conda",
        "litellm-1.82.7-pyhd8ed1ab_0.tar.bz2",
        "litellm-1.82.7-py3.11.egg",
    ] {
        assert_eq!(of_path(path), [format!("{path} Archive PyPi litellm")], "{path}");
    }
    for path in [
        "litellm_proxy_extras-0.2.0-py3-none-any.whl",
        "litellm-proxy-extras-0.2.0.tar.gz",
        "Litellm.Proxy_Extras-0.2.0.tar.gz",
        "litellm-proxy-extras-0.2.0-pyhd8ed1ab_0.conda",
    ] {
        assert_eq!(of_path(path), [format!("{path} Archive PyPi litellm-proxy-extras")], "{path}");
    }
    for path in [
        "litellm-0.12.0.tgz",
        "litellm.tgz",
        ".yarn/cache/litellm-npm-0.12.0-0123456789-abcdef0123.zip",
    ] {
        assert_eq!(of_path(path), [format!("{path} Archive Npm litellm")], "{path}");
    }
}

#[test]
fn an_archive_of_another_package_is_not_found() {
    for path in [
        "langchain_litellm-1.0-py3-none-any.whl",
        "litellm_utils-1.0-py3-none-any.whl",
        "litellm-utils-1.0.tar.gz",
        "langchain-litellm-0.1.tgz",
        "openinference-instrumentation-litellm-0.1.tar.gz",
        "litellm-2-mini-1.0.tar.gz",
        "scope-litellm-0.12.0.tgz",
        "litellm-logo.zip",
        "litellm-docs.tar.gz",
        "lite-llm-1.0.tar.gz",
        "@scope-litellm-npm-0.12.0-0123456789-abcdef0123.zip",
        "litellm.md",
        "litellm.png",
        "litellm-1.82.7.txt",
        "litellm",
    ] {
        assert_eq!(of_path(path), Vec::<String>::new(), "{path}");
    }
}

#[test]
fn metadata_is_known_by_its_name() {
    for (path, found) in [
        (
            ".venv/lib/python3.11/site-packages/litellm-1.82.7.dist-info/METADATA",
            "litellm-1.82.7.dist-info",
        ),
        (
            ".venv/lib/python3.11/site-packages/LiteLLM-1.82.7.dist-info/RECORD",
            "LiteLLM-1.82.7.dist-info",
        ),
        (".venv/lib/python3.11/site-packages/litellm.egg-info/PKG-INFO", "litellm.egg-info"),
        (
            ".venv/lib/python3.11/site-packages/litellm-1.0-py3.11.egg-info",
            "litellm-1.0-py3.11.egg-info",
        ),
        (".venv/lib/python3.11/site-packages/litellm-1.0-py3.11.egg/x", "litellm-1.0-py3.11.egg"),
        (".venv/lib/python3.11/site-packages/litellm.egg-link", "litellm.egg-link"),
        (
            ".venv/lib/python3.11/site-packages/__editable__.litellm-1.82.7.pth",
            "__editable__.litellm-1.82.7.pth",
        ),
        (
            ".venv/lib/python3.11/site-packages/__editable___litellm_1_82_7_finder.py",
            "__editable___litellm_1_82_7_finder.py",
        ),
        (
            ".venv/lib/python3.11/site-packages/_editable_impl_litellm.pth",
            "_editable_impl_litellm.pth",
        ),
        (".venv/lib/python3.11/site-packages/_litellm.pth", "_litellm.pth"),
        (".venv/lib/python3.11/site-packages/litellm.pth", "litellm.pth"),
        (".venv/lib/python3.11/site-packages/litellm-1.0-nspkg.pth", "litellm-1.0-nspkg.pth"),
        ("env/conda-meta/litellm-1.82.7-pyhd8ed1ab_0.json", "litellm-1.82.7-pyhd8ed1ab_0.json"),
        ("anywhere/litellm-1.82.7.dist-info/METADATA", "litellm-1.82.7.dist-info"),
    ] {
        let at = path.find(found).unwrap();
        let expected = format!("{}{found} Vendored PyPi litellm", &path[..at]);
        assert_eq!(of_path(path), [expected], "{path}");
    }
    for path in [
        "site-packages/langchain_litellm-1.0.dist-info/METADATA",
        "site-packages/litellm_utils-1.0.dist-info/METADATA",
        "site-packages/__editable___langchain_litellm_1_0_finder.py",
        "site-packages/__editable__.litellm_utils-1.0.pth",
        "data/litellm-1.82.7-pyhd8ed1ab_0.json",
    ] {
        assert_eq!(of_path(path), Vec::<String>::new(), "{path}");
    }
}

#[test]
fn a_file_of_a_release_that_did_harm_has_its_own_word() {
    let path = ".venv/lib/python3.11/site-packages/litellm_init.pth";
    assert_eq!(of_path(path), [format!("{path} StartupFile PyPi litellm")]);
    assert_eq!(of_path("litellm_init.py"), Vec::<String>::new());
}

#[test]
fn a_folder_counts_where_packages_are_installed() {
    for folder in [
        ".venv/lib/python3.11/site-packages/litellm",
        "usr/lib/python3/dist-packages/litellm",
        "vendor/litellm",
        "vendored/litellm",
        "vendor/python/litellm",
        "src/app/_vendor/litellm",
        "third_party/litellm",
        "lib/litellm",
        "libs/litellm",
        "Lib/litellm",
        "__pypackages__/3.11/lib/litellm",
        ".venv/Lib/site-packages/litellm_cli",
    ] {
        let found = of_path(&format!("{folder}/__init__.py"));
        assert_eq!(found, [format!("{folder} Vendored PyPi litellm")]);
    }
    for folder in [
        "node_modules/litellm",
        "node_modules/x/node_modules/litellm",
        "node_modules/.pnpm/litellm@0.12.0/node_modules/litellm",
        "vendor/litellm",
    ] {
        let found = of_path(&format!("{folder}/package.json"));
        assert!(found.contains(&format!("{folder} Vendored Npm litellm")), "{folder}: {found:?}");
    }
    assert_eq!(
        of_path("site-packages/litellm_enterprise/x.txt"),
        ["site-packages/litellm_enterprise Vendored PyPi litellm-enterprise"]
    );
}

#[test]
fn a_folder_of_its_own_that_has_the_name_does_not_count() {
    for path in [
        "litellm/client.py",
        "src/providers/litellm/__init__.py",
        "docs/litellm/index.md",
        "data/litellm/prices.json",
        "node_modules/@scope/litellm/package.json",
        "node_modules/litellm_cli/index.js",
        ".venv/lib/python3.11/site-packages/mlflow/litellm/__init__.py",
        ".venv/lib/python3.11/site-packages/ddtrace/contrib/internal/litellm/patch.py",
        "site-packages/LiteLLM/__init__.py",
        "site-packages/lite_llm/__init__.py",
        "site-packages/langchain_litellm/__init__.py",
        "node_modules/litellm-utils/package.json",
        "lib/providers/litellm/client.py",
    ] {
        assert_eq!(of_path(path), Vec::<String>::new(), "{path}");
    }
    // A vendored package's own adapter.
    let reading = of_files(&[
        ("vendor/ddtrace/__init__.py", b""),
        ("vendor/ddtrace/litellm/__init__.py", b""),
    ]);
    assert_eq!(mentions(&reading), Vec::<String>::new());
}

#[test]
fn a_folder_with_two_of_the_packages_entries_counts_anywhere() {
    let two = of_files(&[("tools/litellm/main.py", b""), ("tools/litellm/llms/x.py", b"")]);
    assert_eq!(mentions(&two), ["tools/litellm Vendored PyPi litellm"]);
    let one = of_files(&[("tools/litellm/main.py", b""), ("tools/litellm/llm.py", b"")]);
    assert_eq!(mentions(&one), Vec::<String>::new());
    let other = of_files(&[("tools/lite/main.py", b""), ("tools/lite/utils.py", b"")]);
    assert_eq!(mentions(&other), Vec::<String>::new());
}

#[test]
fn the_files_of_a_copy_are_the_copys_and_not_the_plugins() {
    let reading = of_files(&[
        (".venv/lib/python3.11/site-packages/litellm/__init__.py", b"import litellm\n"),
        (".venv/lib/python3.11/site-packages/litellm/proxy/x.py", b"import litellm\n"),
        (".venv/lib/python3.11/site-packages/litellm/proxy/litellm-1.0.tar.gz", b""),
    ]);
    assert_eq!(
        mentions(&reading),
        [
            ".venv/lib/python3.11/site-packages/litellm Vendored PyPi litellm",
            ".venv/lib/python3.11/site-packages/litellm/proxy/litellm-1.0.tar.gz Archive PyPi litellm",
        ]
    );
    assert_eq!(reading.in_copies, 2);
}

#[test]
fn a_pth_file_names_folders_of_packages() {
    let lines = "# /src/litellm\n/src/litellm\n../x\n\n/home/me/litellm/src \n./litellm-1.0-py3.9.egg\r\
                 /src/litellm-utils\n/litellm/x\nlitellm_proxy.extras";
    let reading = of_files(&[("site-packages/easy-install.pth", lines.as_bytes())]);
    assert_eq!(
        mentions(&reading),
        [
            "site-packages/easy-install.pth:2:6 litellm Vendored PyPi litellm",
            "site-packages/easy-install.pth:5:10 litellm Vendored PyPi litellm",
            "site-packages/easy-install.pth:6:3 litellm-1.0-py3.9 Vendored PyPi litellm",
            "site-packages/easy-install.pth:9:1 litellm_proxy.extras Vendored PyPi litellm-proxy-extras",
        ]
    );
    let windows = of_files(&[("x.pth", b"\xef\xbb\xbfC:\\src\\litellm\\\r\nC:\\caf\xe9\r\n")]);
    assert_eq!(mentions(&windows), ["x.pth:1:11 litellm Vendored PyPi litellm"]);
}

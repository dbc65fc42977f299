//! JavaScript, TypeScript and components: what loads a package, and what only names it.

use oz0_deps::How;

use crate::sources::mentions;
use crate::support::of_files;

/// The file at the path is one import, which the marked text names.
fn one(path: &str, marked: &str) {
    let (before, rest) = marked.split_once('«').unwrap();
    let (name, after) = rest.split_once('»').unwrap();
    let text = format!("{before}{name}{after}");
    let reading = of_files(&[(path, text.as_bytes())]);
    let found: Vec<_> =
        reading.mentions.iter().map(|mention| (mention.span.range(), mention.how)).collect();
    let range = before.len()..before.len() + name.len();
    assert_eq!(
        (found.as_slice(), reading.unread.len()),
        ([(range, How::Import)].as_slice(), 0),
        "{path}: {marked}: {reading:?}"
    );
}

#[test]
fn every_way_to_load_a_module_is_found() {
    for marked in [
        "const x = require('«litellm»')",
        "require(`«litellm»`)",
        "require?.('«litellm»')",
        "(require)('«litellm»')",
        "module.require('«litellm»')",
        "requ\\u0069re('«litellm»')",
        "require('«litellm»/sub/path')",
        "require(a ? '«litellm»' : 'b')",
        "require('«lite\\x6clm»')",
        "require('«lite\\\nllm»')",
        "require('«l\\u{0069}tellm»')",
        "require('«\\litellm»')",
        "import x from '«litellm»'",
        "import '«litellm»'",
        "import * as x from \"«litellm»\"",
        "import {a as b} from '«litellm»/x'",
        "import x, {y} from '«litellm»' with {type: 'json'}",
        "import defer * as x from '«litellm»'",
        "export {a} from '«litellm»'",
        "export * from '«litellm»'",
        "export * as x from '«litellm»'",
        "const x = await import('«litellm»')",
        "import(`«litellm»`)",
        "import(`«litellm»/${x}`)",
        "import('npm:«litellm»@1/x')",
        "import x from 'npm:/«litellm»'",
        "import x from 'https://esm.sh/«litellm»@0.12.0?bundle'",
        "import x from 'https://esm.sh/v135/«litellm»@0.12.0/es2022/x.mjs'",
        "import x from 'https://cdn.jsdelivr.net/npm/«litellm»/+esm'",
        "import x from 'https://ga.example/npm:«litellm»@1.0/x.js'",
        "import x from '../node_modules/«litellm»/index.js'",
        "require('raw!«litellm»?x')",
        "createRequire(import.meta.url)('«litellm»')",
        "(0, require)('«litellm»')",
        "const req = createRequire(import.meta.url)\nreq('«litellm»')",
        "import x from 'https://esm.run/«litellm»'",
        "#!/usr/bin/env node\nrequire('«litellm»')",
        "return require('«litellm»')",
        "<!-- a comment\nvar x = require('«litellm»')",
        "with (x) { require('«litellm»') }",
        "const x = <A b={require('«litellm»')}/>",
        "// é\nrequire('«litellm»')",
        "\u{feff}import '«litellm»'",
    ] {
        one("a.js", marked);
    }
    for marked in [
        "import x = require('«litellm»')",
        "export import x = require('«litellm»')",
        "type X = import('«litellm»').Y",
        "type X = typeof import('«litellm»')",
        "import type {X} from '«litellm»'",
        "let x = <any>require('«litellm»')",
        "require('«litellm»' as string)",
        "enum A { B }\nimport '«litellm»'",
    ] {
        one("a.ts", marked);
    }
    for path in
        ["a.mjs", "a.JS", "a.jsx", "a.mts", "a.cts", "a.tsx", "a.d.ts", "node_modules/x/a.cjs"]
    {
        one(path, "import x from '«litellm»'");
    }
    one("a.cjs", "require('«litellm»')");
    one("a.tsx", "const x = <A<B> c={1}>{require('«litellm»')}</A>");
    one("tool", "#!/usr/bin/env node\nrequire('«litellm»')");
}

#[test]
fn mere_names_are_not_found() {
    for text in [
        "// import 'litellm'",
        "/* require('litellm') */",
        "const x = 'litellm'",
        "x = \"import x from 'litellm'\"",
        "x = `require('litellm')`",
        "require.resolve('litellm')",
        "jest.mock('litellm')",
        "vi.mock('litellm', () => {})",
        "import x from './litellm'",
        "import x from '../litellm/index.js'",
        "import x from '/litellm'",
        "import x from '#litellm'",
        "import x from '@scope/litellm'",
        "import x from '@litellm/x'",
        "import x from 'litellm-client'",
        "import x from 'LiteLLM'",
        "import x from 'npm:litellm-x'",
        "import x from 'https://example.com/a/b/litellm.js'",
        "import(`litellm${x}`)",
        "import(`${x}/litellm`)",
        "require(litellm)",
        "x.require('litellm')",
        "import litellm from 'x'",
        "const x = <p>import 'litellm'</p>",
        "x = /require('litellm')/",
        "x = {litellm: 1, 'litellm': 2}",
    ] {
        assert_eq!(mentions("a.js", text), Vec::<String>::new(), "{text}");
    }
    for text in [
        "declare module 'litellm' { export const x: 1 }",
        "declare module 'litellm'",
        "/// <reference types='litellm' />\nlet x",
    ] {
        assert_eq!(mentions("a.ts", text), Vec::<String>::new(), "{text}");
    }
}

#[test]
fn what_cannot_be_parsed_is_unread_where_it_may_import() {
    for text in [
        "}}} import x from 'litellm'",
        "const = ; require( /* x */ 'litellm/y')",
        "let let = `; import('litellm')",
        "@@@ require('lite\\x6clm')",
    ] {
        let got = mentions("a.js", text);
        assert!(
            got.len() == 1
                && got[0].contains("unread: is no JavaScript")
                && got[0].contains("names litellm"),
            "{text}: {got:?}"
        );
    }
    for text in
        ["}}} // litellm", "}}} x = 'litellm'", "}}} import x from './litellm'", "\0\u{1}\u{2}"]
    {
        assert_eq!(mentions("a.js", text), Vec::<String>::new(), "{text}");
    }
}

#[test]
fn other_encodings_are_read_as_engines_and_bundlers_read_them() {
    let wide: Vec<u8> =
        "\u{feff}import 'litellm'".encode_utf16().flat_map(u16::to_le_bytes).collect();
    assert_eq!(mentions("a.ts", &wide), ["1:9 litellm Import"]);
    let wide: Vec<u8> =
        "\u{feff}import 'litellm'".encode_utf16().flat_map(u16::to_be_bytes).collect();
    assert_eq!(mentions("a.js", &wide), ["1:9 litellm Import"]);
    assert_eq!(mentions("a.js", b"// \xe9\nimport 'litellm'"), ["2:9 litellm Import"]);
}

#[test]
fn scripts_of_components_are_read() {
    for (path, marked) in [
        (
            "a.vue",
            "<template><p>litellm</p></template>\n<script>\nimport x from '«litellm»'\n</script>",
        ),
        ("a.vue", "<script setup lang=\"ts\">\nimport type {X} from '«litellm»'\n</script>"),
        ("a.vue", "<SCRIPT LANG=tsx>const x = <A<B>/>; import '«litellm»'</SCRIPT>"),
        ("a.vue", "<script>a</script>\n<script setup>\nrequire('«litellm»')\n</script >"),
        ("a.vue", "<script data-x='>' >import '«litellm»'</script>"),
        ("a.svelte", "<script context=module>import x from '«litellm»'</script>"),
        ("a.svelte", "{#await import('«litellm»') then x}{x}{/await}"),
        ("a.svelte", "<script src='https://esm.sh/«litellm»'></script>"),
        ("a.vue", "<button @click=\"import('«litellm»')\"/>"),
        ("a.astro", "---\nimport x from '«litellm»'\nconst y: string = 'a'\n---\n<p/>"),
        ("a.astro", "---\nlet y\n---\n<p/><script>import x from '«litellm»'</script>"),
        ("a.vue", "<script>import '«litellm»'"),
    ] {
        one(path, marked);
    }
    for (path, text) in [
        ("a.vue", "<template>import 'litellm'</template><script>let x</script>"),
        ("a.vue", "<!-- <script>import 'litellm'</script> -->"),
        ("a.vue", "<scripts>import 'litellm'</scripts>"),
        ("a.vue", "<script type='text/x-template'>import 'litellm'</script>"),
        ("a.vue", "<script type='application/json'>[\"litellm\"]</script>"),
        ("a.svelte", "<p>Use 'litellm' (\"litellm\")</p>"),
    ] {
        assert_eq!(mentions(path, text), Vec::<String>::new(), "{text}");
    }
    let got =
        mentions("a.vue", "<p/>\n<script lang=coffee>\nx = -> import 'litellm'\n@@\n</script>");
    assert!(got.len() == 1 && got[0].starts_with("3:16 unread"), "{got:?}");
}

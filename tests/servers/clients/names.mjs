// Lets the conformance suite find its functions behind a gateway that names them after their tool.
//
//     TOOL_PREFIX=conformance__ TOOL_NAMES=test_simple_text,… node --import ./names.mjs …/conformance/dist/index.js …
//
// The suite calls functions by fixed names, and oz0 serves a function as TOOL__FUNCTION. As the suite is loaded, those
// literals of its source that are one of the names get the prefix. Nothing that it sends or receives passes through here.
import { registerHooks } from "node:module";

const { TOOL_PREFIX: prefix, TOOL_NAMES: names } = process.env;
// The suite's source has its names in backticks; an escaped backtick is part of a description.
const literal = new RegExp(`(?<!\\\\)\`(${names.replaceAll(",", "|")})\``, "g");

registerHooks({
  load(url, context, next) {
    const loaded = next(url, context);
    if (!url.endsWith("/@modelcontextprotocol/conformance/dist/index.js")) return loaded;
    return { ...loaded, source: loaded.source.toString().replaceAll(literal, `\`${prefix}$1\``) };
  },
});

// A handle on the 1.x line of the TypeScript SDK: see README.md.
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { ElicitRequestSchema, ToolListChangedNotificationSchema } from "@modelcontextprotocol/sdk/types.js";
import { changes, elicited, serve } from "./handle.mjs";

const [, , era, transport, target, ...args] = process.argv;
if (era !== "legacy") throw new Error("this client speaks the handshake era only");

const client = new Client({ name: "sdk-1", version: "1" }, { capabilities: { elicitation: {} } });
client.setRequestHandler(ElicitRequestSchema, elicited);
client.setNotificationHandler(ToolListChangedNotificationSchema, () => changes.push());
const connection =
  transport === "http"
    ? new StreamableHTTPClientTransport(new URL(target))
    : new StdioClientTransport({ command: target, args, env: process.env });
// Each transport is told which version was agreed; not each one keeps it.
let protocol;
const keep = connection.setProtocolVersion?.bind(connection);
connection.setProtocolVersion = (version) => {
  protocol = version;
  keep?.(version);
};
await client.connect(connection);
await serve(
  {
    call: (params, options) => client.callTool(params, undefined, options),
    page: (cursor) => client.listTools({ cursor }),
    close: () => client.close(),
  },
  protocol,
);

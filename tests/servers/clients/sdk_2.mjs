// A handle on the 2.x line of the TypeScript SDK's client: see README.md.
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { changes, elicited, serve } from "./handle.mjs";

const [, , era, transport, target, ...args] = process.argv;
const client = new Client(
  { name: "sdk-2", version: "1" },
  {
    capabilities: { elicitation: { form: {} } },
    versionNegotiation: { mode: era === "modern" ? { pin: "2026-07-28" } : "legacy" },
  },
);
client.setRequestHandler("elicitation/create", elicited);
client.setNotificationHandler("notifications/tools/list_changed", () => changes.push());
await client.connect(
  transport === "http"
    ? new StreamableHTTPClientTransport(new URL(target))
    : new StdioClientTransport({ command: target, args, env: process.env }),
);
if (era === "modern") await client.listen({ toolsListChanged: true });
await serve(
  {
    call: (params, options) => client.callTool(params, options),
    // Without a cursor this client reads every page by itself.
    page: (cursor) => client.listTools({ cursor }),
    close: () => client.close(),
  },
  client.getNegotiatedProtocolVersion(),
);

// A remote server on the 2.x line of the TypeScript SDK: see README.md.
import { readFileSync } from "node:fs";
import { serve } from "@hono/node-server";
import { createMcpHandler, Server } from "@modelcontextprotocol/server";

const [, , file, port] = process.argv;
const schema = { type: "object", properties: { name: { type: "string" } } };
const annotations = { readOnlyHint: true };
const text = (text) => ({ content: [{ type: "text", text }] });

const handler = createMcpHandler(() => {
  const server = new Server({ name: "sdk-2", version: "1" }, { capabilities: { tools: {} } });
  server.setRequestHandler("tools/list", () => ({
    tools: [
      { name: "hello", description: readFileSync(file, "utf8").trim(), inputSchema: schema, annotations },
      ...["later", "seen"].map((name) => ({ name, description: "-", inputSchema: schema, annotations })),
    ],
  }));
  server.setRequestHandler("tools/call", ({ params }, context) => {
    if (params.name === "hello") return text(`Hello, ${params.arguments?.name}!`);
    if (params.name === "seen") {
      return text(JSON.stringify(Object.fromEntries(context.http.req.headers)));
    }
    return text("later");
  });
  return server;
});
serve({ fetch: (request) => handler.fetch(request), hostname: "127.0.0.1", port: Number(port ?? 0) }, ({ port }) => {
  console.log(`listening http://127.0.0.1:${port}/mcp`);
});

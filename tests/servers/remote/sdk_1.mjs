// A remote server on the 1.x line of the TypeScript SDK: see README.md.
import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { Server } from "@modelcontextprotocol/sdk/server/index.js";
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";
import { CallToolRequestSchema, ListToolsRequestSchema } from "@modelcontextprotocol/sdk/types.js";

const [, , file, port] = process.argv;
const schema = { type: "object", properties: { name: { type: "string" } } };
const annotations = { readOnlyHint: true };
const text = (text) => ({ content: [{ type: "text", text }] });

/** Every event of a session, so that a stream can be picked up again. */
class Events {
  #all = [];
  async storeEvent(stream, message) {
    this.#all.push({ stream, message });
    return `${this.#all.length}`;
  }
  async getStreamIdForEventId(id) {
    return this.#all[Number(id) - 1]?.stream;
  }
  async replayEventsAfter(last, { send }) {
    const { stream } = this.#all[Number(last) - 1];
    for (let at = Number(last); at < this.#all.length; at++) {
      const event = this.#all[at];
      if (event.stream === stream && event.message?.jsonrpc) await send(`${at + 1}`, event.message);
    }
    // Once the transport has taken the stream up again.
    setImmediate(() => resumed.came());
    return stream;
  }
}

/** Resolves when a client asks for the rest of a stream. */
const resumed = { waiting: [], came() { this.waiting.splice(0).forEach((go) => go()); } };

function server() {
  const server = new Server({ name: "sdk-1", version: "1" }, { capabilities: { tools: {} } });
  server.setRequestHandler(ListToolsRequestSchema, () => ({
    tools: [
      { name: "hello", description: readFileSync(file, "utf8").trim(), inputSchema: schema, annotations },
      ...["later", "seen"].map((name) => ({ name, description: "-", inputSchema: schema, annotations })),
    ],
  }));
  server.setRequestHandler(CallToolRequestSchema, async ({ params }, extra) => {
    if (params.name === "hello") return text(`Hello, ${params.arguments?.name}!`);
    if (params.name === "seen") return text(JSON.stringify(extra.requestInfo.headers));
    const back = new Promise((go) => resumed.waiting.push(go));
    extra.closeSSEStream();
    await back;
    return text("later");
  });
  return server;
}

const sessions = new Map();
const http = createServer(async (request, response) => {
  if (new URL(request.url, "http://here").pathname !== "/mcp") {
    response.writeHead(404).end();
    return;
  }
  const id = request.headers["mcp-session-id"];
  let transport = sessions.get(id);
  if (id && !transport) {
    response.writeHead(404, { "content-type": "application/json" });
    response.end('{"jsonrpc":"2.0","id":null,"error":{"code":-32001,"message":"Session not found"}}');
    return;
  }
  if (!transport) {
    transport = new StreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: (id) => sessions.set(id, transport),
      onsessionclosed: (id) => sessions.delete(id),
      eventStore: new Events(),
      retryInterval: 20,
    });
    await server().connect(transport);
  }
  await transport.handleRequest(request, response);
});
http.listen(Number(port ?? 0), "127.0.0.1", () => {
  console.log(`listening http://127.0.0.1:${http.address().port}/mcp`);
});

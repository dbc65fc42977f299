// What the handles on the TypeScript clients share: see README.md.
import { createInterface } from "node:readline";

const say = (answer) => console.log(JSON.stringify(answer));

/** Takes what was pushed, or waits for it. */
class Queue {
  #items = 0;
  #waiting = [];

  push() {
    const next = this.#waiting.shift();
    if (next) next();
    else this.#items += 1;
  }

  take() {
    if (this.#items > 0) {
      this.#items -= 1;
      return Promise.resolve();
    }
    return new Promise((resolve) => this.#waiting.push(resolve));
  }
}

/** What the client's user answers, and the messages that were shown. */
export const asked = [];
export function elicited(request) {
  asked.push(request.params.message);
  return { action: "accept", content: { color: "blue" } };
}

export const changes = new Queue();

async function call(client, { call: params, cancel }) {
  asked.length = 0;
  const progress = [];
  const giving = new AbortController();
  const onprogress = (said) => {
    progress.push(said.progress);
    if (cancel) giving.abort("given up");
  };
  try {
    const result = await client.call(params, { onprogress, signal: giving.signal });
    say({ result, progress, asked });
  } catch (error) {
    say(giving.signal.aborted ? { cancelled: true } : { error: error.message, progress, asked });
  }
}

async function list(client) {
  const tools = [];
  let pages = 0;
  let cursor;
  try {
    do {
      const page = await client.page(cursor);
      tools.push(...page.tools);
      cursor = page.nextCursor;
      pages += 1;
    } while (cursor !== undefined);
  } catch (error) {
    return say({ error: error.message });
  }
  say({ pages, tools });
}

/** Does what each line says. `client` has `call(params, options)`, `page(cursor)`, `close()`. */
export async function serve(client, protocol) {
  say({ protocol });
  for await (const line of createInterface({ input: process.stdin })) {
    const command = JSON.parse(line);
    if (command.list) await list(client);
    else if (command.call) await call(client, command);
    else if (command.changed) {
      await changes.take();
      say({ changed: true });
    }
  }
  await client.close();
}

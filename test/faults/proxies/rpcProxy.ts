import { once } from "node:events";
import { Agent, request as ask, createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

export type RpcRequest = { id: number; method: string; params: unknown[] };
export type RpcAnswer = { jsonrpc: "2.0"; id: number; result?: unknown; error?: RpcError };
export type RpcError = { code: number; message: string; data?: unknown };

// What happens to a request on its way to the node, or to the answer on its way back.
export type Action =
  // The connection is cut before the node hears of it.
  | { kind: "drop" }
  // The node never hears of it, and the asker never hears anything.
  | { kind: "hang" }
  // The node acts on it, and its answer never comes.
  | { kind: "lose answer" }
  // The node acts on it, and its answer is cut off in the middle.
  | { kind: "truncate" }
  // The node acts on it, and its answer is no JSON.
  | { kind: "garble" }
  // The node hears it twice, and the second answer comes back.
  | { kind: "duplicate" }
  // The node never hears of it; the answer is made up.
  | { kind: "answer"; result: (request: RpcRequest) => unknown }
  | { kind: "error"; error: RpcError }
  | { kind: "status"; status: number; headers?: Record<string, string> }
  // The node acts on it; its answer is exchanged for another one.
  | { kind: "exchange"; answer: (real: RpcAnswer, request: RpcRequest) => RpcAnswer | Promise<RpcAnswer> }
  // Something else happens first.
  | { kind: "after"; first: () => Promise<unknown> };

export type Rule = {
  // A method, or any.
  method: string | null;
  when?: (request: RpcRequest) => boolean;
  // How often it applies; permanently unless told.
  times?: number;
  action: Action;
};

export type Asked = { method: string; params: unknown[]; action: Action["kind"] | "pass" };

export type RpcProxy = {
  url: string;
  // Everything that was asked, oldest first, with what was done to it.
  asked: Asked[];
  // Adds a rule; the first that fits is applied. Returns what takes it away again.
  rule(rule: Rule): () => void;
  // Keeps everything waiting that is asked from now on. `held` resolves when something waits.
  hold(): { held: Promise<void>; release(): void };
  stop(): Promise<void>;
};

// A node's address with faults in front of it: whatever is asked goes through unless a rule says otherwise.
export async function startRpcProxy(nodeUrl: string): Promise<RpcProxy> {
  const asked: Asked[] = [];
  let rules: (Rule & { left: number })[] = [];
  let gate = async () => {};

  function actionOn(request: RpcRequest): Action | null {
    const rule = rules.find(
      ({ method, when, left }) =>
        left > 0 && (method === null || method === request.method) && (when === undefined || when(request)),
    );
    if (rule === undefined) return null;
    rule.left -= 1;
    return rule.action;
  }

  const server = createServer(async (incoming, response) => {
    try {
      const request = JSON.parse(await textOf(incoming)) as RpcRequest;
      await gate();
      const action = actionOn(request);
      asked.push({ method: request.method, params: request.params, action: action?.kind ?? "pass" });
      await carryOut(action, request, nodeUrl, incoming, response);
    } catch {
      // The node is gone, or whoever asked is.
      response.destroy();
    }
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));

  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked,
    rule(rule) {
      const added = { ...rule, left: rule.times ?? Number.POSITIVE_INFINITY };
      rules.push(added);
      return () => {
        rules = rules.filter((other) => other !== added);
      };
    },
    hold() {
      let release = () => {};
      let waits = () => {};
      const held = new Promise<void>((resolve) => {
        waits = resolve;
      });
      const open = new Promise<void>((resolve) => {
        release = resolve;
      });
      gate = () => {
        waits();
        return open;
      };
      return {
        held,
        release() {
          gate = async () => {};
          release();
        },
      };
    },
    async stop() {
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
    },
  };
}

async function carryOut(
  action: Action | null,
  request: RpcRequest,
  nodeUrl: string,
  incoming: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { id } = request;
  const send = (answer: RpcAnswer) => response.end(JSON.stringify(answer));
  switch (action?.kind) {
    case undefined:
      send(await forward(nodeUrl, request));
      return;
    case "drop":
      incoming.socket.destroy();
      return;
    case "hang":
      return;
    case "lose answer":
      await forward(nodeUrl, request);
      return;
    case "truncate": {
      const text = JSON.stringify(await forward(nodeUrl, request));
      response.writeHead(200, { "content-length": `${text.length}` });
      response.write(text.slice(0, text.length / 2), () => response.destroy());
      return;
    }
    case "garble":
      await forward(nodeUrl, request);
      response.end("<html>Bad gateway</html>");
      return;
    case "duplicate":
      await forward(nodeUrl, request);
      send(await forward(nodeUrl, request));
      return;
    case "answer":
      send({ jsonrpc: "2.0", id, result: action.result(request) });
      return;
    case "error":
      send({ jsonrpc: "2.0", id, error: action.error });
      return;
    case "status":
      response.writeHead(action.status, action.headers).end();
      return;
    case "exchange":
      send(await action.answer(await forward(nodeUrl, request), request));
      return;
    case "after":
      await action.first();
      send(await forward(nodeUrl, request));
  }
}

const agent = new Agent({ keepAlive: true });

// A daemon asks a hundred things in a second, and `fetch` takes several times as long for each.
async function forward(url: string, request: RpcRequest): Promise<RpcAnswer> {
  const asked = ask(url, { method: "POST", agent, headers: { "content-type": "application/json" } });
  asked.end(JSON.stringify(request));
  const [response] = (await once(asked, "response")) as [IncomingMessage];
  return JSON.parse(await textOf(response)) as RpcAnswer;
}

async function textOf(incoming: IncomingMessage): Promise<string> {
  let text = "";
  for await (const chunk of incoming) text += chunk;
  return text;
}

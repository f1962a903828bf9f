import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

export type RpcRequest = { id: number; method: string; params: unknown[] };

// How a node treats a request: it answers, says no, answers with a status or a text, never answers, cuts the connection
// off in the middle of an answer, or takes no connection at all.
export type Behaviour =
  | { kind: "result"; result: unknown }
  | { kind: "error"; code: number; message: string; data?: unknown; status?: number }
  | { kind: "status"; status: number; headers?: Record<string, string>; text?: string }
  | { kind: "text"; text: string }
  | { kind: "hang" }
  | { kind: "cut" };

export type ScriptedRpc = {
  url: string;
  // The methods that it was asked, oldest first.
  asked: string[];
  // What it does from now on.
  script: (request: RpcRequest) => Behaviour;
  stop(): Promise<void>;
};

// A node that does what the test says.
export async function startScriptedRpc(script: ScriptedRpc["script"]): Promise<ScriptedRpc> {
  const asked: string[] = [];
  const server = createServer(async (incoming, response) => {
    let body = "";
    for await (const chunk of incoming) body += chunk;
    const request = JSON.parse(body) as RpcRequest;
    asked.push(request.method);
    behave(node.script(request), request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const node: ScriptedRpc = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked,
    script,
    async stop() {
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
    },
  };
  return node;
}

function behave(behaviour: Behaviour, { id }: RpcRequest, response: ServerResponse): void {
  switch (behaviour.kind) {
    case "result":
      response.end(JSON.stringify({ jsonrpc: "2.0", id, result: behaviour.result }));
      break;
    case "error": {
      const { code, message, data, status = 200 } = behaviour;
      response.writeHead(status).end(JSON.stringify({ jsonrpc: "2.0", id, error: { code, message, data } }));
      break;
    }
    case "status":
      response.writeHead(behaviour.status, behaviour.headers).end(behaviour.text);
      break;
    case "text":
      response.end(behaviour.text);
      break;
    case "cut":
      response.writeHead(200, { "content-length": "1000" });
      response.write('{"jsonrpc":"2.0","id":', () => response.destroy());
      break;
    case "hang":
      break;
  }
}

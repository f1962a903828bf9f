import { type IncomingMessage, request as send } from "node:http";
import { startServer } from "../../marketplace/mcp/testing/startServer.ts";

export type FrontDoor = {
  url: string;
  open(behind: string): void;
  // Nobody gets through any more; with `afterwards`, everybody does and nobody hears an answer.
  shut(how?: "afterwards"): void;
  // So many answers are lost on their way, and no more.
  lose(answers: number): void;
  seen: IncomingMessage[];
  close(): Promise<void>;
};

// The address at which the world reaches a marketplace, known before the marketplace has a port, as behind a proxy.
export async function startFrontDoor(): Promise<FrontDoor> {
  let behind: string | undefined;
  let losing = 0;
  const seen: IncomingMessage[] = [];
  const { port, close } = await startServer((request, response) => {
    seen.push(request);
    if (behind === undefined) return void response.destroy();
    const forwarded = send(behind + request.url, { method: request.method, headers: request.headers }, (answer) => {
      if (losing > 0) {
        losing -= 1;
        return void answer.resume().once("end", () => response.destroy());
      }
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    });
    forwarded.on("error", () => response.destroy());
    request.pipe(forwarded);
  });
  const open = (url: string) => {
    behind = url;
    losing = 0;
  };
  const shut = (how?: "afterwards") => {
    if (how === "afterwards") losing = Number.POSITIVE_INFINITY;
    else behind = undefined;
  };
  const lose = (answers: number) => {
    losing = answers;
  };
  return { url: `http://127.0.0.1:${port}`, open, shut, lose, seen, close };
}

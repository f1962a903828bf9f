import { createServer } from "node:net";
import { StartError } from "./StartError.ts";

// Makes sure that a port can be had before anything is started, and finds a free one for 0.
export function takePort(option: string, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once("error", (error: NodeJS.ErrnoException) => {
      if (error.code !== "EADDRINUSE" && error.code !== "EACCES") return reject(error);
      const why = error.code === "EACCES" ? "may not be used" : "is taken";
      reject(
        new StartError(`Port ${port} ${why}: name another one with npm start -- ${option} <n>, or 0 for a free one.`),
      );
    });
    server.listen({ host: "127.0.0.1", port }, () => {
      const address = server.address();
      server.close(() => resolve(address !== null && typeof address === "object" ? address.port : port));
    });
  });
}

import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { expect, it } from "vitest";
import { SettlementError } from "../../../domain/errors.ts";
import { listenError, tryListen } from "./tryListen.ts";

it("a taken port, and an address of another machine, are said with the setting that names them", async () => {
  const other = createServer();
  await once(other.listen(0, "127.0.0.1"), "listening");
  try {
    const { port } = other.address() as AddressInfo;
    const taken = { host: "127.0.0.1", port };
    expect(listenError(await tryListen(taken), taken, "MARKETPLACE_LISTEN")).toMatchObject({
      code: "invalid_config",
      message: `port ${port} is taken; MARKETPLACE_LISTEN names another one`,
    });
  } finally {
    other.close();
  }
  // Kept for documentation: no machine has it.
  const elsewhere = { host: "192.0.2.1", port: 8788 };
  expect(listenError(await tryListen(elsewhere), elsewhere, "MARKETPLACE_LISTEN")).toMatchObject({
    message:
      "192.0.2.1 is not an address of this machine; MARKETPLACE_LISTEN names another one, such as 127.0.0.1:8788",
  });
});

it("a port that this user may not have is said, and anything else stays what it was", () => {
  const listen = { host: "127.0.0.1", port: 80 };
  const denied = Object.assign(new Error("listen EACCES"), { code: "EACCES" });
  expect(listenError(denied, listen, "SETTLEMENT_LISTEN")).toEqual(
    new SettlementError("invalid_config", "this user may not listen on port 80; SETTLEMENT_LISTEN names another one"),
  );
  const defect = new Error("a defect");
  expect(listenError(defect, listen, "SETTLEMENT_LISTEN")).toBe(defect);
});

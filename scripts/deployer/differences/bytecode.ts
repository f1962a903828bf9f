import type { DeploymentRecord } from "../../../settlement/deployment.ts";
import type { Session } from "../../command/session.ts";
import { addressesOf } from "../../protocol/connectProtocol.ts";
import { addressOf } from "../../protocol/create2.ts";
import { CONTRACT_KEYS, CONTRACTS, creationCodeOf } from "../../protocol/description.ts";
import { compare, type Difference } from "./difference.ts";

export const NO_CODE = "no code";

// The constructor is run again, without sending anything, and its result compared byte for byte: that covers the code,
// the compiler's settings and every immutable value. The address follows from the same code and its arguments.
export async function checkBytecode({ provider }: Session, record: DeploymentRecord): Promise<Difference[]> {
  const addresses = addressesOf(record);
  const differences = await Promise.all(
    CONTRACT_KEYS.map(async (key) => {
      const { title } = CONTRACTS[key];
      const live = await provider.getCode(addresses[key]);
      if (live === "0x") return { subject: title, expected: "a contract", found: NO_CODE };
      const creationCode = creationCodeOf(key, record.contracts[key].arguments);
      const address = compare(`address of ${title}`, addressOf(record.label, creationCode), addresses[key]);
      const built = await provider.call({ from: record.deployer, data: creationCode });
      if (built === live) return address;
      const place = firstDifference(built, live);
      return [
        ...address,
        {
          subject: `${title} at ${addresses[key]}, bytecode`,
          expected: `what this repository builds (${built.length / 2 - 1} bytes)`,
          found: `${live.length / 2 - 1} bytes that differ from byte ${place} on`,
        },
      ];
    }),
  );
  return differences.flat();
}

function firstDifference(a: string, b: string): number {
  let index = 2;
  while (index < a.length && a[index] === b[index]) index += 1;
  return Math.floor((index - 2) / 2);
}

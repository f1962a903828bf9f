import type { HardhatRuntimeEnvironment } from "hardhat/types/hre";
import { listDeployments } from "../../settlement/deployment.ts";
import { createOutput } from "../command/output.ts";
import { environment } from "../config/environment.ts";
import { addressesOf } from "../protocol/connectProtocol.ts";
import { addressOf } from "../protocol/create2.ts";
import { CONTRACT_KEYS, creationCodeOf } from "../protocol/description.ts";

// `deployments`: every recorded deployment and whether this repository's code would end at the same addresses, which it
// does only if it is the same code. It asks no network; check-deployment does.
export default async function deployments({ json }: { json: boolean }, _: HardhatRuntimeEnvironment): Promise<void> {
  const output = createOutput(json);
  const records = listDeployments(environment.deploymentsFolder).map((record) => {
    const addresses = addressesOf(record);
    const sameCode = CONTRACT_KEYS.every(
      (key) => addressOf(record.label, creationCodeOf(key, record.contracts[key].arguments)) === addresses[key],
    );
    return { record, addresses, sameCode };
  });
  if (records.length === 0) output.say("No deployment has been recorded yet: run deploy.");
  for (const { record, addresses, sameCode } of records) {
    output.say(`${record.network} (chain ${record.chainId})`);
    output.rows([
      ["router", `${addresses.router} since block ${record.contracts.router.block}`],
      ["staking", `${addresses.staking} since block ${record.contracts.staking.block}`],
      ["bonds", `${addresses.bonds} since block ${record.contracts.bonds.block}`],
      ["receipt court", `${addresses.receiptCourt} since block ${record.contracts.receiptCourt.block}`],
      ["schema court", `${addresses.schemaCourt} since block ${record.contracts.schemaCourt.block}`],
      ["manager", `${addresses.manager} since block ${record.contracts.manager.block}`],
      ["commit", record.commit],
      ["code", sameCode ? "the same as in this repository" : "other than in this repository"],
    ]);
  }
  output.result(
    records.map(({ record, addresses, sameCode }) => ({
      network: record.network,
      chainId: record.chainId,
      addresses,
      commit: record.commit,
      sameCode,
    })),
  );
}

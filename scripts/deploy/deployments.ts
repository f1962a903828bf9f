import type { HardhatRuntimeEnvironment } from "hardhat/types/hre";
import { createOutput } from "../command/output.ts";
import { planDeployment } from "./create2.ts";
import { addressesOf, listRecords, termsOf } from "./record.ts";

// `deployments`: every recorded deployment and whether this repository's code would end at the same addresses, which it
// does only if it is the same code. It asks no network; check-deployment does.
export default async function deployments({ json }: { json: boolean }, _: HardhatRuntimeEnvironment): Promise<void> {
  const output = createOutput(json);
  const records = listRecords().map((record) => {
    const addresses = addressesOf(record);
    const planned = planDeployment(termsOf(record), record.label).addresses;
    return { record, addresses, sameCode: JSON.stringify(planned) === JSON.stringify(addresses) };
  });
  if (records.length === 0) output.say("No deployment has been recorded yet: run deploy.");
  for (const { record, addresses, sameCode } of records) {
    output.say(`${record.network} (chain ${record.chainId})`);
    output.rows([
      ["router", `${addresses.router} since block ${record.contracts.router.block}`],
      ["staking", `${addresses.staking} since block ${record.contracts.staking.block}`],
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

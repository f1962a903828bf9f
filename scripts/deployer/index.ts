import { task } from "hardhat/config";
import { optional, reading, sending } from "../command/options.ts";
import { DEFAULT_LABEL } from "../protocol/label.ts";

export const deployerTasks = [
  sending(task("deploy", "Deploy the protocol and hand every role over; run it again to go on after a failure"))
    .addOption(optional("admin", "Who may change parameters, after a delay; meant to be a multisig"))
    .addOption(optional("treasury", "Who earns the protocol's share"))
    .addOption(optional("insurance", "Who pays for absorbed charges and gets the rest of a slash"))
    .addOption(optional("operator", "Who settles"))
    .addOption({
      name: "operatorLimit",
      description: "What the operator may settle in any 24 hours, in USDC",
      defaultValue: "10000",
    })
    .addOption(optional("guardian", "Who may pause, suspend operators and veto slashes"))
    .addOption(optional("adjudicator", "Who may slash"))
    .addOption({
      name: "label",
      description: "Part of the addresses: another label makes another deployment",
      defaultValue: DEFAULT_LABEL,
    })
    .setAction(() => import("./deploy.ts"))
    .build(),
  reading(task("check-deployment", "Compare the live deployment with this repository and say what differs"))
    .setAction(() => import("./checkDeployment.ts"))
    .build(),
  reading(task("deployments", "List the recorded deployments"))
    .setAction(() => import("./deployments.ts"))
    .build(),
  reading(task("verify-deployment", "Send the sources of a deployment to the block explorer"))
    .setAction(() => import("./verifyDeployment.ts"))
    .build(),
];

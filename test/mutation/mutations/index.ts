import type { Mutation } from "../mutation.ts";
import { chainMutations } from "./chain.ts";
import { contractMutations } from "./contracts.ts";
import { daemonMutations } from "./daemon.ts";
import { engineMutations } from "./engine.ts";
import { ledgerMutations } from "./ledger.ts";
import { scriptMutations } from "./scripts.ts";

export const mutations: readonly Mutation[] = [
  ...contractMutations,
  ...ledgerMutations,
  ...engineMutations,
  ...chainMutations,
  ...daemonMutations,
  ...scriptMutations,
];

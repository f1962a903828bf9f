import { HDNodeWallet, id, Mnemonic, type Provider, Wallet } from "ethers";
import type { Address, Hex } from "viem";

// Who is on every local chain, whatever runs it: the parties of a deployment are the first accounts of the mnemonic that
// anvil and Hardhat share, in the order in which the deployer's page introduces them.
export const PARTIES = ["deployer", "admin", "treasury", "insurance", "operator", "guardian", "adjudicator"] as const;

export type Party = (typeof PARTIES)[number];

// The ten accounts that anvil has unless told otherwise. Circle is the one who mints.
export const PEOPLE = [...PARTIES, "developer", "payer", "circle"] as const;

export type Person = (typeof PEOPLE)[number];

// An account whose key is known.
export type KeyedAccount = Wallet & { readonly address: Address; readonly privateKey: Hex };

const MNEMONIC = Mnemonic.fromPhrase("test test test test test test test test test test test junk");
const branch = HDNodeWallet.fromMnemonic(MNEMONIC, "m/44'/60'/0'/0");

// An account of the node, by its position.
export const nodeAccount = (position: number, provider?: Provider): KeyedAccount =>
  new Wallet(branch.deriveChild(position).privateKey, provider) as KeyedAccount;

export const personOf = (person: Person, provider?: Provider): KeyedAccount =>
  nodeAccount(PEOPLE.indexOf(person), provider);

export const partiesOf = (provider?: Provider): Record<Party, KeyedAccount> =>
  Object.fromEntries(PARTIES.map((party) => [party, personOf(party, provider)])) as Record<Party, KeyedAccount>;

// As many accounts as are wanted, with keys that are made from a name: every run has the same ones.
export const namedAccounts = (name: string, count: number, provider?: Provider): KeyedAccount[] =>
  Array.from({ length: count }, (_, i) => new Wallet(id(`${name} ${i}`), provider) as KeyedAccount);

import { concat, getCreate2Address, id, keccak256 } from "ethers";
import {
  type Addresses,
  CONTRACT_KEYS,
  CONTRACTS,
  type ContractKey,
  creationCodeOf,
  type Terms,
} from "./description.ts";

// The deterministic deployment proxy that Base and anvil have at this address. It creates whatever code it is sent, at
// an address that depends on the code and the salt alone.
export const CREATE2_PROXY = "0x4e59b44847b379578588920cA78FbF26c0B4956C";

export const CREATE2_PROXY_CODE =
  "0x7fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffe03601600081602082378035828234f58015156039578182fd5b8082525050506014600cf3";

export const CREATE2_PROXY_CODE_HASH = keccak256(CREATE2_PROXY_CODE);

export type PlannedContract = {
  key: ContractKey;
  title: string;
  address: string;
  arguments: string[];
  creationCode: string;
  salt: string;
};

export type Plan = { addresses: Addresses; contracts: PlannedContract[] };

// Where the proxy puts this code.
export const addressOf = (label: string, creationCode: string): string =>
  getCreate2Address(CREATE2_PROXY, id(label), keccak256(creationCode));

// Where each contract will be, and the code that puts it there.
export function planDeployment(terms: Terms, label: string): Plan {
  const salt = id(label);
  const addresses: Partial<Addresses> = {};
  const contracts = CONTRACT_KEYS.map((key) => {
    const { title, argumentsOf } = CONTRACTS[key];
    const constructorArguments = argumentsOf(terms, addresses).map(String);
    const creationCode = creationCodeOf(key, constructorArguments);
    const address = addressOf(label, creationCode);
    const planned = { key, title, address, arguments: constructorArguments, creationCode, salt };
    addresses[key] = address;
    return planned;
  });
  return { addresses: addresses as Addresses, contracts };
}

export const creationCallOf = ({ title, salt, creationCode }: PlannedContract) => ({
  title: `create ${title}`,
  to: CREATE2_PROXY,
  data: concat([salt, creationCode]),
});

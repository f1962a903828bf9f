import type { DeploymentRecord } from "../../settlement/deployment.ts";
import {
  type ContextRouter,
  ContextRouter__factory,
  type JsonSchema,
  JsonSchema__factory,
  type OperatorBonds,
  OperatorBonds__factory,
  type ProtocolAccess,
  ProtocolAccess__factory,
  type ReceiptCourt,
  ReceiptCourt__factory,
  type SchemaCourt,
  SchemaCourt__factory,
  type ToolStaking,
  ToolStaking__factory,
} from "../../typechain-types/index.ts";
import type { Addresses } from "./description.ts";

export type Protocol = {
  manager: ProtocolAccess;
  staking: ToolStaking;
  bonds: OperatorBonds;
  router: ContextRouter;
  receiptCourt: ReceiptCourt;
  jsonSchema: JsonSchema;
  schemaCourt: SchemaCourt;
};

export function connectProtocol(addresses: Addresses, runner: Parameters<typeof ContextRouter__factory.connect>[1]) {
  return {
    manager: ProtocolAccess__factory.connect(addresses.manager, runner),
    staking: ToolStaking__factory.connect(addresses.staking, runner),
    bonds: OperatorBonds__factory.connect(addresses.bonds, runner),
    router: ContextRouter__factory.connect(addresses.router, runner),
    receiptCourt: ReceiptCourt__factory.connect(addresses.receiptCourt, runner),
    jsonSchema: JsonSchema__factory.connect(addresses.jsonSchema, runner),
    schemaCourt: SchemaCourt__factory.connect(addresses.schemaCourt, runner),
  } satisfies Protocol;
}

export const addressesOf = ({ contracts }: DeploymentRecord): Addresses => ({
  manager: contracts.manager.address,
  staking: contracts.staking.address,
  bonds: contracts.bonds.address,
  router: contracts.router.address,
  receiptCourt: contracts.receiptCourt.address,
  jsonSchema: contracts.jsonSchema.address,
  schemaCourt: contracts.schemaCourt.address,
});

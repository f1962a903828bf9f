// Generated from the compiled contracts by scripts/generate-abi.ts. This is the service's only copy of their ABIs.
// biome-ignore-all format: one line is one member of a contract.

export const routerAbi = [
  {"inputs":[{"name":"authority","type":"address"}],"name":"AccessManagedInvalidAuthority","type":"error"},
  {"inputs":[{"name":"caller","type":"address"},{"name":"delay","type":"uint32"}],"name":"AccessManagedRequiredDelay","type":"error"},
  {"inputs":[{"name":"caller","type":"address"}],"name":"AccessManagedUnauthorized","type":"error"},
  {"inputs":[{"name":"receiptsRoot","type":"bytes32"},{"name":"timestamp","type":"uint256"}],"name":"BatchAlreadySettled","type":"error"},
  {"inputs":[{"name":"payer","type":"address"},{"name":"amount","type":"uint256"}],"name":"ChargeUnexplained","type":"error"},
  {"inputs":[{"name":"attempt","type":"uint256"},{"name":"left","type":"uint256"}],"name":"DailyCapExceeded","type":"error"},
  {"inputs":[],"name":"EmptyBatch","type":"error"},
  {"inputs":[],"name":"EnforcedPause","type":"error"},
  {"inputs":[],"name":"ExpectedPause","type":"error"},
  {"inputs":[{"name":"to","type":"address"}],"name":"InvalidRecipient","type":"error"},
  {"inputs":[{"name":"attempt","type":"uint256"},{"name":"max","type":"uint256"}],"name":"LimitOutOfBounds","type":"error"},
  {"inputs":[{"name":"caller","type":"address"}],"name":"NotOperator","type":"error"},
  {"inputs":[{"name":"account","type":"address"}],"name":"NothingToClaim","type":"error"},
  {"inputs":[{"name":"attempt","type":"uint256"},{"name":"left","type":"uint256"}],"name":"OperatorLimitExceeded","type":"error"},
  {"inputs":[],"name":"ReentrancyGuardReentrantCall","type":"error"},
  {"inputs":[{"name":"needed","type":"uint256"},{"name":"given","type":"uint256"}],"name":"RowsTruncated","type":"error"},
  {"inputs":[{"name":"token","type":"address"}],"name":"SafeERC20FailedOperation","type":"error"},
  {"inputs":[],"name":"TokenUnavailable","type":"error"},
  {"inputs":[{"name":"index","type":"uint256"},{"name":"count","type":"uint256"}],"name":"ToolIndexOutOfRange","type":"error"},
  {"inputs":[{"name":"toolId","type":"bytes16"}],"name":"ToolNotPayable","type":"error"},
  {"inputs":[],"name":"ZeroAmount","type":"error"},
  {"anonymous":false,"inputs":[{"indexed":true,"name":"receiptsRoot","type":"bytes32"},{"indexed":true,"name":"operator","type":"address"},{"indexed":false,"name":"charged","type":"uint256"},{"indexed":false,"name":"treasuryShare","type":"uint256"}],"name":"BatchSettled","type":"event"},
  {"anonymous":false,"inputs":[{"indexed":true,"name":"receiptsRoot","type":"bytes32"},{"indexed":true,"name":"payer","type":"address"},{"indexed":false,"name":"amount","type":"uint256"},{"indexed":false,"name":"reason","type":"uint8"}],"name":"ChargeFailed","type":"event"},
  {"anonymous":false,"inputs":[{"indexed":true,"name":"account","type":"address"},{"indexed":true,"name":"to","type":"address"},{"indexed":false,"name":"amount","type":"uint256"}],"name":"Claimed","type":"event"},
  {"anonymous":false,"inputs":[{"indexed":true,"name":"receiptsRoot","type":"bytes32"},{"indexed":true,"name":"payer","type":"address"},{"indexed":true,"name":"toolId","type":"bytes16"},{"indexed":false,"name":"amount","type":"uint256"},{"indexed":false,"name":"reason","type":"uint8"}],"name":"LineRefused","type":"event"},
  {"anonymous":false,"inputs":[{"indexed":true,"name":"payer","type":"address"},{"indexed":true,"name":"toolId","type":"bytes16"},{"indexed":false,"name":"amount","type":"uint256"},{"indexed":false,"name":"modelCost","type":"uint256"}],"name":"Paid","type":"event"},
  {"anonymous":false,"inputs":[{"indexed":true,"name":"account","type":"address"},{"indexed":false,"name":"amount","type":"uint256"}],"name":"PayoutFailed","type":"event"},
  {"anonymous":false,"inputs":[{"indexed":true,"name":"toolId","type":"bytes16"},{"indexed":true,"name":"payee","type":"address"},{"indexed":false,"name":"amount","type":"uint256"},{"indexed":false,"name":"developerShare","type":"uint256"}],"name":"ToolPaid","type":"event"},
  {"inputs":[{"name":"account","type":"address"}],"name":"creditOf","outputs":[{"name":"amount","type":"uint256"}],"stateMutability":"view","type":"function"},
  {"inputs":[{"name":"operator","type":"address"}],"name":"operatorLimit","outputs":[{"name":"limit","type":"uint256"},{"name":"left","type":"uint256"}],"stateMutability":"view","type":"function"},
  {"inputs":[],"name":"paused","outputs":[{"name":"","type":"bool"}],"stateMutability":"view","type":"function"},
  {"inputs":[{"name":"accounts","type":"address[]"}],"name":"payout","outputs":[{"name":"paid","type":"uint256"}],"stateMutability":"nonpayable","type":"function"},
  {"inputs":[{"name":"receiptsRoot","type":"bytes32"},{"name":"toolIds","type":"bytes16[]"},{"name":"rows","type":"bytes"}],"name":"settle","outputs":[{"name":"charged","type":"uint256"}],"stateMutability":"nonpayable","type":"function"},
  {"inputs":[{"name":"receiptsRoot","type":"bytes32"}],"name":"settledAt","outputs":[{"name":"timestamp","type":"uint256"}],"stateMutability":"view","type":"function"},
  {"inputs":[{"name":"payers","type":"address[]"}],"name":"spendableMany","outputs":[{"components":[{"name":"amount","type":"uint256"},{"name":"balance","type":"uint256"},{"name":"allowance","type":"uint256"},{"name":"dailyCapLeft","type":"uint256"}],"name":"results","type":"tuple[]"}],"stateMutability":"view","type":"function"},
  {"inputs":[],"name":"staking","outputs":[{"name":"","type":"address"}],"stateMutability":"view","type":"function"},
  {"inputs":[],"name":"usdc","outputs":[{"name":"","type":"address"}],"stateMutability":"view","type":"function"},
] as const;

export const stakingAbi = [
  {"inputs":[],"name":"insurance","outputs":[{"name":"","type":"address"}],"stateMutability":"view","type":"function"},
  {"inputs":[{"name":"price","type":"uint256"}],"name":"requiredStake","outputs":[{"name":"","type":"uint256"}],"stateMutability":"view","type":"function"},
  {"inputs":[{"name":"toolId","type":"bytes16"}],"name":"tool","outputs":[{"components":[{"name":"payout","type":"address"},{"name":"stake","type":"uint48"},{"name":"price","type":"uint48"},{"name":"owner","type":"address"},{"name":"withdrawing","type":"uint48"},{"name":"readyAt","type":"uint48"},{"name":"pendingOwner","type":"address"}],"name":"","type":"tuple"}],"stateMutability":"view","type":"function"},
] as const;

export const usdcAbi = [
  {"inputs":[{"name":"account","type":"address"}],"name":"balanceOf","outputs":[{"name":"","type":"uint256"}],"stateMutability":"view","type":"function"},
  {"inputs":[{"name":"account","type":"address"}],"name":"isBlacklisted","outputs":[{"name":"","type":"bool"}],"stateMutability":"view","type":"function"},
  {"inputs":[],"name":"paused","outputs":[{"name":"","type":"bool"}],"stateMutability":"view","type":"function"},
] as const;

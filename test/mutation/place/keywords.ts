// Words of the languages, which nobody renames.
const TYPESCRIPT = `as async await bigint boolean break case catch class const continue default delete do else export
  extends false finally for from function if import in instanceof interface let never new null number of readonly return
  static string super switch this throw true try type typeof undefined unknown void while yield`;
const SOLIDITY = `abi address assembly block bool bytes bytes32 calldata constant emit error event external immutable internal
  is mapping memory modifier msg override private public pure require returns revert sender storage struct timestamp uint256
  unchecked using view virtual`;
const SQL = `AND AS ASC BETWEEN BY CASE CONFLICT COUNT CREATE DELETE DESC DISTINCT DO ELSE END EXISTS FROM GROUP IN INDEX
  INSERT INTO IS JOIN LEFT LIMIT NOT NULL ON OR ORDER PRAGMA RETURNING SELECT SET SUM TABLE THEN UPDATE VALUES WHEN WHERE`;

export const KEYWORDS: ReadonlySet<string> = new Set(`${TYPESCRIPT} ${SOLIDITY} ${SQL}`.split(/\s+/));

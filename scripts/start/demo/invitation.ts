// A purchase that anybody can paste. The key is read from its file, so that it is in no shell's history.
export const invitation = (marketplaceUrl: string, keyPath: string, toolId: string) =>
  [
    `curl ${marketplaceUrl}/api/v1/tools/execute \\`,
    `  -H "authorization: Bearer $(cat ${quoted(keyPath)})" -H 'content-type: application/json' \\`,
    `  -d '{"toolId":"${toolId}","toolName":"describe","args":{"values":[3,1,4,1,5,9]}}'`,
  ].join("\n");

const quoted = (path: string) => (/^[\w./-]+$/.test(path) ? path : `'${path.replaceAll("'", `'\\''`)}'`);

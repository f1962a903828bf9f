// The same id with other contents: nothing was changed.
export type Conflict = { kind: "conflict" };

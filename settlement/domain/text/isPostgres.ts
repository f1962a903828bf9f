const POSTGRES_PATTERN = /^postgres(ql)?:\/\//;

// Whether a ledger's location is a server's address; otherwise it is a file.
export const isPostgres = (location: string) => POSTGRES_PATTERN.test(location);

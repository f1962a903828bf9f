import { expect, it } from "vitest";
import { readAddress } from "./readAddress.ts";

it("an address says who, where and whether TLS is spoken", () => {
  expect(readAddress("postgres://us%40er:p%3Aw@127.0.0.1:5433/ledger")).toEqual({
    host: "127.0.0.1",
    port: 5433,
    user: "us@er",
    password: "p:w",
    database: "ledger",
    ssl: false,
    application_name: "settlement",
  });
  expect(readAddress("postgresql://u@[::1]/l")).toMatchObject({ host: "::1", ssl: false });
  expect(readAddress("postgres://u@/l?host=/var/run/postgresql")).toMatchObject({
    host: "/var/run/postgresql",
    ssl: false,
  });
  expect(readAddress("postgres://u@db.example/l?sslmode=disable")).toMatchObject({ host: "db.example", ssl: false });
  expect(readAddress("postgres://u@db.example/l?sslmode=verify-full")).toMatchObject({
    ssl: { servername: "db.example" },
  });
});

it.each([
  ["?options=-c%20synchronous_commit%3Doff", "has ?options="],
  ["?synchronous_commit=off", "has ?synchronous_commit="],
  ["?target_session_attrs=any", "has ?target_session_attrs="],
  ["?statement_timeout=0", "has ?statement_timeout="],
  ["?ssl=0", "has ?ssl="],
  ["?uselibpqcompat=true&sslmode=require", "has ?uselibpqcompat="],
  ["?sslmode=require", "says sslmode=require"],
  ["?sslmode=no-verify", "says sslmode=no-verify"],
  ["?host=elsewhere", "has ?host="],
  ["?sslrootcert=/nowhere/ca.pem", "names a file in sslrootcert"],
])("an address with %s is refused", (parameters, reason) => {
  const read = () => readAddress(`postgres://u:hidden@127.0.0.1/l${parameters}`);
  expect(read).toThrow(expect.objectContaining({ code: "invalid_config", message: expect.stringContaining(reason) }));
  expect(read).not.toThrow(/hidden/);
});

it("another machine is not sent a password in clear text by an oversight", () => {
  expect(() => readAddress("postgres://u:hidden@db.example/l")).toThrow("says nothing of TLS");
});

it.each(["postgres://u:hidden@a b/l", "postgres://u:hidden@127.0.0.1/"])("%s is not taken for an address", (text) => {
  expect(() => readAddress(text)).toThrow(expect.objectContaining({ code: "invalid_config" }));
});

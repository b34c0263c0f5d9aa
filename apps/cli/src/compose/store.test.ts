import { describe, expect, it, onTestFinished } from "vitest";
import { PoolingProxy } from "../../../../test/harness/pooling-proxy.js";
import { describeOnPostgres } from "../../../../test/harness/postgres.js";
import { openStore } from "./store.js";

const open = (url: string) => openStore({ kind: "postgres", url });

describe("a PostgreSQL server that cannot be reached", () => {
  it("is named by host and port, with the cause and what to check", async () => {
    await expect(open("postgres://me:very-secret@127.0.0.1:1/x")).rejects.toMatchObject({
      message: "The PostgreSQL server at 127.0.0.1:1 cannot be reached (ECONNREFUSED).",
      advice: expect.stringContaining("host and port") as unknown,
    });
    await expect(open("postgres://me:very-secret@a..b/x")).rejects.toMatchObject({
      message: "The PostgreSQL server at a..b:5432 cannot be reached (ENOTFOUND).",
      advice: expect.stringContaining("check the host") as unknown,
    });
    await expect(open("postgres:///x?host=/no/such/folder")).rejects.toMatchObject({
      message: "The PostgreSQL server at /no/such/folder:5432 cannot be reached (ENOENT).",
    });
  });
});

describe("the address of a store", () => {
  it("is refused before anything is opened, where it is none, and not shown", async () => {
    const refusal = open("postgres://me:very-secret@one:1,two:2/x");
    await expect(refusal).rejects.toMatchObject({
      message: "The address of the store is not that of a PostgreSQL server.",
      cause: { code: "invalid_request", details: { field: "url" } },
    });
    await expect(refusal).rejects.not.toThrow(/very-secret/);
  });
});

describeOnPostgres(
  "a pooler before a PostgreSQL server",
  (postgres) => {
    it("is named, with the setting for it", async () => {
      const database = await postgres.createDatabase();
      const proxy = await PoolingProxy.start(database.url);
      onTestFinished(async () => {
        await proxy.close();
        await database.drop();
      });
      const url = proxy.through(database.url);
      await expect(open(url)).rejects.toMatchObject({
        message: expect.stringMatching(
          /^The PostgreSQL server at 127\.0\.0\.1:\d+ is behind a connection pooler/,
        ) as unknown,
        advice: expect.stringContaining("transactionPooler: true") as unknown,
      });
      const opened = await openStore({ kind: "postgres", url, transactionPooler: true });
      await opened.close();
    });
  },
  "preferred",
);

describeOnPostgres("a PostgreSQL server that refuses", (postgres) => {
  it("says whether it is the user or the database", async () => {
    const { url } = await postgres.createDatabase();
    const other = (change: (url: URL) => void) => {
      const changed = new URL(url);
      change(changed);
      return open(changed.href);
    };
    const stranger = other((changed) => {
      changed.password = "very-secret";
    });
    await expect(stranger).rejects.toMatchObject({
      message: expect.stringMatching(
        /^The PostgreSQL server at \S+ refuses the user or the password\.$/,
      ) as unknown,
      advice: expect.stringContaining("user and password") as unknown,
    });
    const nowhere = other((changed) => {
      changed.pathname = "/nosuch";
    });
    await expect(nowhere).rejects.toMatchObject({
      message: expect.stringContaining("has no such database") as unknown,
      advice: expect.stringContaining("Create the database") as unknown,
    });
  });
});

import { describe, expect, it } from "vitest";
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

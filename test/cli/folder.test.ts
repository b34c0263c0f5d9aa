import { execFileSync } from "node:child_process";
import { renameSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type ServerProcess, Workplace } from "./parley-process.js";

interface Listed {
  readonly id: string;
  readonly title: string;
}

describe("the folder of a server that runs", { timeout: 120_000 }, () => {
  let place: Workplace;
  let server: ServerProcess;
  beforeAll(async () => {
    place = new Workplace();
    await place.ok(["run", "original"]);
    server = await place.serve();
  }, 120_000);
  afterAll(() => place.remove());

  const titles = async (store: string) =>
    (await place.json<Listed[]>("ls", "--store", store)).map(({ title }) => title);

  /** Returns the requests that the server has logged. */
  const requests = () => server.output().stdout.match(/"route":"[^"]+"/g) ?? [];

  it("is a store of its own when it is copied, lock and announcement included", async () => {
    const copy = join(place.folder, "copy");
    execFileSync("cp", ["-r", place.store, copy]);
    await place.ok(["rename", "@", "copied", "--store", copy]);
    expect(await titles(copy)).toEqual(["copied"]);
    expect(await titles(place.store)).toEqual(["original"]);
    // The copy can be served beside the original.
    const second = await place.serve(["--port", "0", "--store", copy]);
    await second.end();
  });

  it("leads to that server by a link to it", async () => {
    const link = join(place.folder, "link");
    symlinkSync(place.store, link);
    const before = requests().length;
    expect(await titles(link)).toEqual(["original"]);
    expect(requests().length).toBeGreaterThan(before);
  });

  it("leads to that server after it was moved, and not to another one that listens at its address by then", async () => {
    const moved = join(place.folder, "moved");
    renameSync(place.store, moved);
    const { stdout } = await place.parley(["doctor", "--no-providers", "--json", "--store", moved]);
    expect(stdout).toContain(`A server on this store listens at ${server.url}`);
    renameSync(moved, place.store);
    const { port } = server;
    await server.end("SIGKILL");
    const other = new Workplace();
    try {
      await other.serve(["--port", String(port)]);
      expect(place.has(".parley/server.json")).toBe(true);
      expect(await titles(place.store)).toEqual(["original"]);
    } finally {
      await other.remove();
    }
  });
});

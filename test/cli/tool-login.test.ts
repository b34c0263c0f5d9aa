import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { afterEach, describe, expect, it } from "vitest";
import { OAuthToolServer } from "../harness/oauth-tool-server.js";
import { quickDemo, Workplace } from "./parley-process.js";

const ends: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

/** Runs `parley tools connect` up to the address that a person has to open. */
async function beginLogin(
  place: Workplace,
): Promise<{ child: ChildProcess; address: string; output: () => string }> {
  const child = place.start(["tools", "connect", "tracker", "--no-browser"]);
  let output = "";
  const take = (text: string) => {
    output += text;
  };
  child.stderr?.setEncoding("utf8").on("data", take);
  child.stdout?.setEncoding("utf8").on("data", take);
  const address = () => /^http:\/\/\S+authorize\S+$/m.exec(output)?.[0];
  await expect.poll(address, { timeout: 60_000 }).toBeDefined();
  return { child, address: address() ?? "", output: () => output };
}

describe("parley tools connect", { timeout: 120_000 }, () => {
  it("logs in by a browser here, or by the pasted address of one elsewhere, and its tools are there after a restart", async () => {
    const tracker = new OAuthToolServer();
    await tracker.start();
    ends.push(() => tracker.stop());
    const place = new Workplace({
      ...quickDemo,
      mcpServers: { tracker: { url: tracker.url, auth: "oauth" } },
    });
    ends.push(() => place.remove());
    const server = await place.serve();
    expect((await place.parley(["tools"])).stderr).toContain("needs connecting");

    const first = await beginLogin(place);
    const back = await tracker.logIn(first.address, "ann");
    expect(back.hostname).toBe("127.0.0.1");
    const closed = once(first.child, "close");
    expect((await fetch(back)).status).toBe(200);
    expect(await closed).toEqual([0, null]);
    expect(first.output()).toContain("Connected to tracker.");
    expect(await place.ok(["tools"])).toContain("tracker__whoami");

    expect(await place.ok(["tools", "disconnect", "tracker"])).toContain("Disconnected");
    expect(await place.ok(["tools"])).not.toContain("tracker__whoami");

    const second = await beginLogin(place);
    const elsewhere = await tracker.logIn(second.address, "bob");
    const ended = once(second.child, "close");
    second.child.stdin?.write("not an address\n");
    second.child.stdin?.write(`${elsewhere.href}\n`);
    expect(await ended).toEqual([0, null]);

    await server.end();
    const again = await place.serve();
    expect(await place.ok(["tools"])).toContain("tracker__whoami");
    await again.end();
    const said = [server, again].map((each) => JSON.stringify(each.output())).join("");
    for (const secret of [...tracker.secrets(), back.searchParams.get("code") ?? "none"]) {
      expect(said).not.toContain(secret);
    }
  });
});

import { afterAll, expect, it } from "vitest";
import { OAuthToolServer } from "../harness/oauth-tool-server.js";
import { findings } from "./axe.js";
import { describePage } from "./site.js";

const tools = new OAuthToolServer();
afterAll(() => tools.stop());

async function config(): Promise<object> {
  return {
    store: { folder: ".parley", durable: false },
    models: { demo: { kind: "demo", pace: "instant" } },
    mcpServers: { tracker: { url: await tools.start(), auth: "oauth" } },
  };
}

describePage("a server of tools that people log in at", config, (site) => {
  it("is logged in at in a tab of its own, and out again", async () => {
    const tab = await site().open("/settings/tools");
    const section = tab.page.getByRole("region", { name: "Tools", exact: true });
    await section.getByText("needs your login").waitFor();
    expect(await findings(tab)).toEqual([]);
    const opened = tab.context.waitForEvent("page");
    await section.getByRole("button", { name: "Log in" }).click();
    const login = await opened;
    await login.getByText("Connected to tracker. You can close this window.").waitFor();
    expect(new URL(login.url()).origin).toBe(site().url);
    await login.close();
    await section.getByText("tracker__whoami").waitFor();
    await section.getByRole("button", { name: "Disconnect" }).click();
    await section.getByText("needs your login").waitFor();
    await section.getByText("tracker__whoami").waitFor({ state: "detached" });
  });
});

import { afterAll, expect, it } from "vitest";
import { findings } from "./axe.js";
import { describePage } from "./site.js";
import { phone } from "./tab.js";
import { type Piece, Upstream } from "./upstream.js";

let upstream: Upstream | undefined;
afterAll(() => upstream?.end());

/** No model is configured: the demo model is used until a provider is connected. */
async function config(): Promise<object> {
  upstream = await Upstream.start(function* (question): Iterable<Piece> {
    yield { text: `A real answer to: ${question}` };
  });
  return { store: { folder: ".parley", durable: false } };
}

describePage("the connections of the settings", config, (site) => {
  it("lead from the first page to a real answer, and are tested, renamed and removed", async () => {
    const tab = await site().open();
    // A wrong key is refused on purpose.
    tab.allow(/status of 4\d\d .*\/connections\)$/);
    const from = performance.now();
    await tab.page.getByRole("link", { name: "connect a provider" }).click();
    const section = tab.page.getByRole("region", { name: "Models", exact: true });
    await section
      .getByRole("listitem", { name: "demo" })
      .getByText("serves while there is no other")
      .waitFor();
    expect(await findings(tab)).toEqual([]);
    await section.getByText("OpenAI-compatible").click();
    await section.getByRole("textbox", { name: "Address" }).fill(`${upstream?.url}`);
    await section.getByLabel("API key (optional)").fill("sk-planted-key");
    await section.getByText("More", { exact: true }).click();
    await section.getByRole("textbox", { name: "Name" }).fill("mine");
    await section.getByRole("button", { name: "Connect" }).click();
    await tab.page.getByText(/^Connected\. \d+ models? of mine can be asked\.$/).waitFor();
    expect(await findings(tab)).toEqual([]);
    await tab.button("Start a conversation").click();
    await tab.begin("are you there");
    await tab.log.getByText("A real answer to: are you there").waitFor();
    console.log(`      from the first page to a real answer: ${Math.round(performance.now() - from)} ms`);

    // The key was sent to the provider and nowhere else.
    expect(await tab.page.content()).not.toContain("sk-planted-key");
    expect(JSON.stringify(await site().ask("GET", "/connections"))).not.toContain("sk-planted-key");

    await tab.page.goto(`${site().url}/settings/connections`);
    const entry = section.getByRole("listitem", { name: "mine" });
    await entry.getByRole("button", { name: "Test" }).click();
    await tab.page.getByText(/^mine answered in \d+ ms/).waitFor();
    await entry.getByRole("button", { name: "Rename" }).click();
    await entry.getByRole("textbox", { name: "New name" }).fill("ours");
    await entry.getByRole("button", { name: "Rename" }).click();
    const renamed = section.getByRole("listitem", { name: "ours" });
    await renamed.getByRole("button", { name: "Remove" }).click();
    await renamed.getByRole("button", { name: "Remove permanently" }).click();
    await renamed.waitFor({ state: "detached" });
    await section.getByRole("listitem", { name: "demo" }).waitFor();
  });

  it("fit a phone, and say what is wrong with an address", async () => {
    const tab = await site().open("/settings/connections", { ...phone, colorScheme: "dark" });
    tab.allow(/status of 4\d\d .*\/connections\)$/, /status of 5\d\d .*\/connections\)$/);
    const section = tab.page.getByRole("region", { name: "Models", exact: true });
    await section.getByText("OpenAI-compatible").click();
    await section.getByRole("textbox", { name: "Address" }).fill("http://127.0.0.1:9/v1");
    await section.getByRole("button", { name: "Connect" }).click();
    await section.getByRole("alert").waitFor();
    expect(await tab.tooWide()).toEqual([]);
    expect(await findings(tab)).toEqual([]);
  });
});

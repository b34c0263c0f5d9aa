import type { CreateKeyResponse } from "@parley/wire";
import { afterAll, expect, it } from "vitest";
import { findings } from "./axe.js";
import { asked, exportOf, said } from "./prepared-conversation.js";
import { describePage } from "./site.js";
import { desktop, patience } from "./tab.js";
import { type Piece, Upstream } from "./upstream.js";

const quick = {
  models: { demo: { kind: "demo", pace: "instant", slowStepMs: 0 } },
  starters: ["Summarize a document", "Explain a piece of code"],
};

describePage("the page", quick, (site) => {
  it("opens without a network once it was there, and asks for the network then", async () => {
    const tab = await site().open("/", { ...desktop, serviceWorkers: "allow" });
    tab.allow(/ERR_|Failed to load|WebSocket|status of/);
    const manifest = await site().ask<{ icons: { src: string }[] }>("GET", "/manifest.webmanifest");
    for (const { src } of manifest.icons) expect((await fetch(site().url + src)).status).toBe(200);
    await tab.composer.waitFor();
    await tab.page.evaluate(async () => {
      await navigator.serviceWorker.ready;
    });
    // Files that the page loaded before the worker was there are loaded through it now, and kept.
    await tab.page.reload();
    await tab.composer.waitFor();
    const keptFiles = () =>
      tab.page.evaluate(async () => {
        const cache = await caches.open("parley-page");
        return (await cache.keys()).map(({ url }) => new URL(url).pathname);
      });
    await expect.poll(keptFiles, patience).toContain("/");
    // Nothing of the API is kept.
    for (const path of await keptFiles()) expect(path).toMatch(/^\/($|assets\/|icon|manifest)/);
    await tab.context.setOffline(true);
    await tab.page.reload();
    await tab.page.getByText("The server cannot be reached").waitFor();
    await tab.context.setOffline(false);
    await tab.button("Try again").click();
    await tab.composer.waitFor();
  });

  it("offers the configured ways to begin, which are sent by hand", async () => {
    const tab = await site().open();
    await tab.page
      .getByRole("list", { name: "Ways to begin" })
      .getByRole("button", { name: "Explain a piece of code" })
      .click();
    expect(await tab.composer.inputValue()).toBe("Explain a piece of code");
    expect(await tab.focused()).toBe("Message");
    expect(new URL(tab.page.url()).pathname).toBe("/");
    expect(await findings(tab)).toEqual([]);
  });

  it("prints the whole conversation", async () => {
    const turns = Array.from({ length: 120 }, (_, n) => [asked(`question ${n}`), said(`answer ${n}`)]);
    const { conversation } = await site().import(exportOf({ id: "to-print", title: "To print" }, turns));
    const tab = await site().open(`/c/${conversation.id}`);
    await tab.log.getByText("answer 119").waitFor();
    expect(await tab.log.getByText("question 0", { exact: true }).count()).toBe(0);
    await tab.page.evaluate(() => {
      window.print = () => {
        document.title = `printed ${document.querySelectorAll('article[aria-label="You"]').length}`;
      };
    });
    await tab.page.keyboard.press("Control+p");
    await expect.poll(() => tab.page.title(), patience).toBe("printed 120");
    // It is as it was again.
    await expect.poll(() => tab.log.getByText("question 0", { exact: true }).count(), patience).toBe(0);
    await tab.page.emulateMedia({ media: "print" });
    expect(await tab.composer.isVisible()).toBe(false);
    expect(await tab.list.isVisible()).toBe(false);
    expect(await tab.log.getByText("answer 119").isVisible()).toBe(true);
  });

  it("is for reading where the key may only read", async () => {
    await site().ask("POST", "/conversations", { id: "read-me" });
    const admin = await site().ask<CreateKeyResponse>("POST", "/keys", { scopes: ["admin"] });
    const made = await fetch(`${site().url}/keys`, {
      method: "POST",
      body: JSON.stringify({ scopes: ["read"] }),
      headers: { authorization: `Bearer ${admin.secret}`, "content-type": "application/json" },
    });
    const reader = (await made.json()) as CreateKeyResponse;
    const tab = await site().open();
    tab.allow(/status of 401/, /WebSocket connection/);
    await tab.page.getByLabel("API key").fill(reader.secret);
    await tab.page.keyboard.press("Enter");
    await tab.page.getByRole("heading", { name: "What would you like to read?" }).waitFor();
    expect(await tab.composer.count()).toBe(0);
    expect(await findings(tab)).toEqual([]);
    await tab.page.getByRole("region", { name: "Recent conversations" }).getByRole("link").first().click();
    await tab.page.getByText("Your key may read, and not write.").waitFor();
    expect(await tab.composer.count()).toBe(0);
    expect(await tab.page.getByRole("button", { name: "Regenerate answer" }).count()).toBe(0);
    await tab.page.getByRole("button", { name: "Conversation menu" }).click();
    expect(await tab.page.getByRole("menuitem", { name: "Delete" }).count()).toBe(0);
    await tab.page.keyboard.press("Escape");
    expect(await findings(tab)).toEqual([]);
  });
});

let upstream: Upstream | undefined;
afterAll(() => upstream?.end());

async function configuredModel(): Promise<object> {
  upstream = await Upstream.start(function* (question): Iterable<Piece> {
    yield { text: question.startsWith("user: ") ? "Rain over Lisbon" : "It will rain." };
  });
  return { models: { local: { ...upstream.credential, models: ["unknown-model"] } } };
}

describePage("the page with a model of a vendor", configuredModel, (site) => {
  it("shows the title that the model gave, and an assumed context window as assumed", async () => {
    const tab = await site().open();
    await tab.composer.waitFor();
    await tab.page.getByRole("button", { name: /^Model: / }).click();
    await tab.page.getByText("tokens fit (assumed)").waitFor();
    await tab.page.keyboard.press("Escape");
    await tab.send("What will the weather be in Lisbon?");
    await tab.ended(1);
    await tab.list.getByText("Rain over Lisbon").waitFor();
    await expect.poll(() => tab.page.title()).toContain("Rain over Lisbon");
  });
});

import type { ConversationMeta, ListConversationsResponse, SearchResponse } from "@parley/wire";
import { expect, it } from "vitest";
import { findings } from "./axe.js";
import { describePage, type Site } from "./site.js";
import { patience, phone, type Tab } from "./tab.js";

const quick = { models: { demo: { kind: "demo", pace: "instant", slowStepMs: 0 } } };

const banner = (tab: Tab) => tab.page.getByRole("region", { name: "Temporary conversation" });
const note = (tab: Tab) => tab.page.getByText("Deleted the temporary conversation");
const newConversation = (tab: Tab) => tab.list.getByRole("link", { name: "New conversation" }).click();

/** Begins a temporary conversation, and waits for its answer. */
async function beginTemporary(tab: Tab, text: string): Promise<string> {
  await tab.button("Temporary").click();
  const id = await tab.begin(text);
  await tab.ended(1);
  await banner(tab).waitFor();
  return id;
}

async function isThere(site: Site, id: string): Promise<boolean> {
  return (await fetch(`${site.url}/conversations/${id}/meta`)).ok;
}

async function listed(site: Site): Promise<string[]> {
  const { conversations } = await site.ask<ListConversationsResponse>("GET", "/conversations");
  return conversations.map(({ id }) => id);
}

describePage("a temporary conversation", quick, (site) => {
  it("is shown nowhere, survives a reload, and is deleted when the page moves on", async () => {
    const tab = await site().open();
    expect(await findings(tab)).toEqual([]);
    await tab.button("Temporary").click();
    await banner(tab).getByText("Temporary: deleted when you leave.").waitFor();
    expect(await findings(tab)).toEqual([]);
    await tab.button("Temporary").click();
    await banner(tab).waitFor({ state: "detached" });
    const id = await beginTemporary(tab, "a zebra that must not be seen");
    expect(await findings(tab)).toEqual([]);
    expect(await tab.list.getByRole("link", { name: "zebra" }).count()).toBe(0);
    expect(await listed(site())).not.toContain(id);
    expect((await site().ask<SearchResponse>("GET", "/search?q=zebra")).hits).toEqual([]);

    await tab.page.reload();
    await tab.ended(1);
    await banner(tab).waitFor();
    // Settings do not leave it.
    await tab.page.keyboard.press("Control+,");
    await tab.page.waitForURL(/\/settings/);
    await tab.page.goBack();
    await banner(tab).waitFor();
    expect(await note(tab).count()).toBe(0);

    await newConversation(tab);
    await note(tab).waitFor();
    // The next one is kept again.
    expect(await tab.button("Temporary").getAttribute("aria-pressed")).toBe("false");
    await tab.button("Undo").click();
    await tab.page.waitForURL(new RegExp(`/c/${id}$`));
    await banner(tab).waitFor();
    await newConversation(tab);
    await note(tab).waitFor();
    await tab.page.goBack();
    await banner(tab).waitFor();
    await note(tab).waitFor({ state: "detached" });
    expect(await isThere(site(), id)).toBe(true);

    await newConversation(tab);
    await note(tab).waitFor();
    await tab.button("Dismiss").click();
    await expect.poll(() => isThere(site(), id), patience).toBe(false);
  });

  it("is kept with its branches, and is a conversation like others from then on", async () => {
    const tab = await site().open();
    const id = await beginTemporary(tab, "a walrus to keep");
    await tab.button("Regenerate answer").click();
    await tab.page.waitForURL((url) => !url.pathname.endsWith(id) && url.pathname.startsWith("/c/"));
    await tab.ended(1);
    const branch = tab.conversationId;
    const { temporary } = await site().ask<ConversationMeta>("GET", `/conversations/${branch}/meta`);
    expect(temporary).toBe(true);
    expect(await note(tab).count()).toBe(0);
    await tab.page.getByText("2 / 2").or(tab.page.getByText("2/2")).first().waitFor();
    await tab.button("Keep this conversation").click();
    await banner(tab).waitFor({ state: "detached" });
    await tab.list.getByRole("link", { name: "walrus" }).first().waitFor();
    expect(await listed(site())).toEqual(expect.arrayContaining([id, branch]));
    await newConversation(tab);
    await tab.begin("another one");
    await tab.ended(1);
    expect(await note(tab).count()).toBe(0);
    expect(await listed(site())).toEqual(expect.arrayContaining([id, branch]));
  });

  it("is deleted with the last tab that shows it", async () => {
    const tab = await site().open();
    const id = await beginTemporary(tab, "two tabs of a llama");
    const second = await tab.context.newPage();
    await second.goto(tab.page.url());
    await second.getByRole("region", { name: "Temporary conversation" }).waitFor();
    await newConversation(tab);
    // A conversation is started and answered meanwhile: the effects of leaving are complete by then.
    await tab.begin("in the first tab");
    await tab.ended(1);
    expect(await note(tab).count()).toBe(0);
    expect(await isThere(site(), id)).toBe(true);
    await second.getByRole("link", { name: "in the first tab" }).click();
    await second.getByText("Deleted the temporary conversation").waitFor();
    // Leaving the page does not undo it.
    await second.close({ runBeforeUnload: true });
    await expect.poll(() => isThere(site(), id), patience).toBe(false);
  });

  it("fits on a phone, in the dark", async () => {
    const tab = await site().open("/", { ...phone, colorScheme: "dark" });
    await tab.button("Temporary").click();
    expect(await tab.tooWide()).toEqual([]);
    expect(await findings(tab)).toEqual([]);
    await tab.begin("a small one");
    await tab.ended(1);
    await banner(tab).waitFor();
    expect(await tab.tooWide()).toEqual([]);
    expect(await findings(tab)).toEqual([]);
  });
});

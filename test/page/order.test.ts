import { readFile } from "node:fs/promises";
import type { ConversationMeta, ListConversationsResponse } from "@parley/wire";
import type { Locator } from "playwright-core";
import { expect, it } from "vitest";
import { findings } from "./axe.js";
import { asked, exportOf, said } from "./prepared-conversation.js";
import { describePage, type Site } from "./site.js";
import { patience, phone, type Tab } from "./tab.js";

const demo = { kind: "demo", pace: "instant", slowStepMs: 0 };
const two = { models: { demo, second: demo } };

const entry = (tab: Tab, title: string) => tab.list.getByRole("link", { name: title });
const group = (tab: Tab, name: string) => tab.list.getByRole("region", { name });
const box = (tab: Tab, title: string) => tab.page.getByRole("checkbox", { name: title });
const bar = (tab: Tab) => tab.page.getByRole("group", { name: "Selection" });

/** Puts conversations into the store, the first one the newest. */
async function add(site: Site, prefix: string, count: number): Promise<readonly string[]> {
  const titles = Array.from({ length: count }, (_, n) => `${prefix} ${String(n + 1).padStart(2, "0")}`);
  for (const title of titles.toReversed())
    await site.import(exportOf({ id: title.replaceAll(" ", "-"), title }, [[asked(title), said("Yes.")]]));
  return titles;
}

async function all(site: Site): Promise<readonly ConversationMeta[]> {
  const path = "/conversations?limit=200";
  return (await site.ask<ListConversationsResponse>("GET", path)).conversations;
}

async function titlesOf(site: Site, prefix: string, status?: string): Promise<readonly string[]> {
  return (await all(site))
    .filter((meta) => meta.title.startsWith(prefix) && (status === undefined || meta.status === status))
    .map(({ title }) => title)
    .toSorted();
}

async function choose(tab: Tab, title: string, action: string): Promise<void> {
  await entry(tab, title).hover();
  await tab.button(`Menu of ${title}`).click();
  await tab.page.getByRole("menuitem", { name: action, exact: true }).click();
}

async function listOption(tab: Tab, role: "menuitem" | "menuitemradio", name: string): Promise<void> {
  await tab.button("List options").click();
  await tab.page.getByRole(role, { name }).click();
}

const texts = (entries: Locator) => entries.allInnerTexts();

describePage("the order of the page's list", two, (site) => {
  it("shows pinned conversations first, in every tab, however old they are, with their branches", async () => {
    const titles = await add(site(), "pinnable", 52);
    const oldest = titles.at(-1) ?? "";
    const tab = await site().open();
    const other = await site().open();
    await entry(tab, "pinnable 01").first().waitFor();
    await entry(other, "pinnable 01").first().waitFor();
    expect(await group(tab, "Pinned").count()).toBe(0);
    await site().ask("POST", "/conversations/pinnable-02/fork", { atSeq: 2, id: "pinnable-02-fork" });
    await tab.list.getByRole("button", { name: "2 branches" }).waitFor();
    await choose(tab, "pinnable 02", "Pin");
    const pinned = group(other, "Pinned");
    await pinned.getByRole("link", { name: "pinnable 02" }).waitFor();
    await expect
      .poll(
        async () =>
          (await all(site()))
            .filter((meta) => meta.pinned)
            .map(({ id }) => id)
            .toSorted(),
        patience,
      )
      .toEqual(["pinnable-02", "pinnable-02-fork"]);
    expect(await findings(tab)).toEqual([]);

    // One that no page of the list has loaded yet.
    const far = await site().open(`/c/${oldest.replaceAll(" ", "-")}`);
    await far.page.getByRole("heading", { level: 1, name: oldest }).waitFor();
    await far.button("Conversation menu").click();
    await far.page.getByRole("menuitem", { name: "Pin" }).click();
    await pinned.getByRole("link", { name: oldest }).waitFor();
    await other.page.reload();
    await pinned.getByRole("link", { name: oldest }).waitFor();
    expect(await texts(pinned.getByRole("heading"))).toEqual(["Pinned"]);

    // By the keyboard, from the conversation.
    await far.log.focus();
    await far.page.keyboard.press("p");
    await pinned.getByRole("link", { name: oldest }).waitFor({ state: "detached" });
    await choose(other, "pinnable 02", "Unpin");
    await pinned.waitFor({ state: "detached" });
    expect((await all(site())).filter((meta) => meta.pinned)).toEqual([]);
  });

  it("can be narrowed to a model, changes with it, and says how to see all again", async () => {
    await add(site(), "modelled", 3);
    const setModel = (id: string, model: string) =>
      site().ask("PUT", `/conversations/${id}/model`, { model });
    const [model = "", other = ""] = (await site().ask<{ models: string[] }>("GET", "/models")).models;
    expect(other).toMatch(/^second\//);
    for (const n of [1, 2, 3]) await setModel(`modelled-0${n}`, model);
    const tab = await site().open();
    await entry(tab, "modelled 01").waitFor();
    const isSecond = { name: /second/ };
    await tab.button("List options").click();
    await tab.page.getByRole("menuitemradio", isSecond).click();
    await tab.list.getByText("No conversation uses").waitFor();
    expect(await findings(tab)).toEqual([]);
    await setModel("modelled-02", other);
    await entry(tab, "modelled 02").waitFor();
    expect(await entry(tab, "modelled").count()).toBe(1);
    await setModel("modelled-02", model);
    await entry(tab, "modelled 02").waitFor({ state: "detached" });
    await tab.list.getByRole("button", { name: "Show all conversations" }).click();
    await entry(tab, "modelled 02").waitFor();
    await setModel("modelled-03", other);
    await tab.button("List options").click();
    await tab.page.getByRole("menuitemradio", isSecond).click();
    await entry(tab, "modelled 01").waitFor({ state: "detached" });
    await entry(tab, "modelled 03").waitFor();
    await tab.button("Show all models").click();
    await entry(tab, "modelled 01").waitFor();
  });

  it("selects by the keyboard and by ranges, families as one, and exports the selection", async () => {
    await add(site(), "bulk", 6);
    await site().ask("POST", "/conversations/bulk-03/fork", { atSeq: 2, id: "bulk-03-fork" });
    const tab = await site().open("/c/bulk-06");
    await tab.list.getByRole("button", { name: "2 branches" }).first().waitFor();
    // The page is done with where it puts the focus itself.
    await tab.log.getByText("Yes.").waitFor();
    // Shift with an arrow begins, and goes on.
    await entry(tab, "bulk 01").press("Shift+ArrowDown");
    const status = bar(tab).getByRole("status");
    await expect.poll(() => status.innerText(), patience).toBe("2 selected");
    await tab.page.keyboard.press("Escape");
    await bar(tab).waitFor({ state: "detached" });
    await expect
      .poll(() => entry(tab, "bulk 02").evaluate((element) => element === document.activeElement), patience)
      .toBe(true);

    await choose(tab, "bulk 01", "Select");
    await expect.poll(() => box(tab, "bulk 01").isChecked(), patience).toBe(true);
    // The branch of the third one has made it the newest, so that it stands before them.
    await box(tab, "bulk 04").click({ modifiers: ["Shift"] });
    await expect.poll(() => status.innerText(), patience).toBe("3 selected");
    await box(tab, "bulk 03").check();
    await expect.poll(() => status.innerText(), patience).toBe("5 selected");
    expect(await findings(tab)).toEqual([]);

    const download = tab.page.waitForEvent("download");
    await bar(tab).getByRole("button", { name: "Export" }).click();
    const exported = (await readFile(await (await download).path(), "utf8")).trim().split("\n");
    const heads = exported.filter((line) => line.startsWith('{"type":"conversation"'));
    expect(heads).toHaveLength(5);
    await bar(tab).waitFor({ state: "detached" });
  });

  it("pins, closes and deletes a selection, the last two after one confirmation", async () => {
    await add(site(), "several", 6);
    await site().ask("POST", "/conversations/several-03/fork", { atSeq: 2, id: "several-03-fork" });
    const tab = await site().open("/c/several-06");
    await entry(tab, "several 03").waitFor();
    await listOption(tab, "menuitem", "Select conversations");
    for (const title of ["several 03", "several 05"]) await box(tab, title).check();
    await bar(tab).getByRole("button", { name: "Pin" }).click();
    await group(tab, "Pinned").getByRole("link", { name: "several 05" }).waitFor();
    await group(tab, "Pinned").getByRole("link", { name: "several 03" }).waitFor();
    expect((await all(site())).filter((meta) => meta.pinned)).toHaveLength(3);

    await listOption(tab, "menuitem", "Select conversations");
    for (const title of ["several 03", "several 04"]) await box(tab, title).check();
    await bar(tab).getByRole("button", { name: "Close", exact: true }).click();
    const asksToClose = tab.dialog("Close 3 conversations?");
    await asksToClose.waitFor();
    expect(await findings(tab)).toEqual([]);
    await asksToClose.getByRole("button", { name: "Close 3 conversations" }).click();
    await expect
      .poll(() => titlesOf(site(), "several", "closed"), patience)
      .toEqual(["several 03", "several 03", "several 04"]);
    await bar(tab).waitFor({ state: "detached" });

    // Nothing happens without a confirmation; the open one is left when it goes.
    await listOption(tab, "menuitem", "Select conversations");
    for (const title of ["several 01", "several 06"]) await box(tab, title).check();
    await bar(tab).getByRole("button", { name: "Delete" }).click();
    await tab.dialog("Delete 2 conversations?").getByRole("button", { name: "Cancel" }).click();
    expect(await titlesOf(site(), "several", "idle")).toEqual([
      "several 01",
      "several 02",
      "several 05",
      "several 06",
    ]);
    await bar(tab).getByRole("button", { name: "Delete" }).click();
    await tab
      .dialog("Delete 2 conversations?")
      .getByRole("button", { name: "Delete 2 conversations" })
      .click();
    await tab.page.getByText("Deleted 2 conversations.").waitFor();
    expect(await titlesOf(site(), "several", "idle")).toEqual(["several 02", "several 05"]);
    expect(new URL(tab.page.url()).pathname).toBe("/");
  });

  it("says how many failed, and keeps them selected", async () => {
    await add(site(), "failing", 3);
    const tab = await site().open("about:blank");
    await tab.page.route("**/conversations/failing-02/pinned", (route) => route.abort("connectionreset"));
    tab.allow(/failing-02\/pinned/, /ERR_CONNECTION_RESET/);
    await tab.page.goto(site().url);
    await choose(tab, "failing 01", "Select");
    await box(tab, "failing 03").click({ modifiers: ["Shift"] });
    await bar(tab).getByRole("button", { name: "Pin" }).click();
    await tab.page.getByText("Pinned 2 conversations, 1 failed.").waitFor();
    await expect.poll(() => bar(tab).getByRole("status").innerText(), patience).toBe("1 selected");
    expect(await box(tab, "failing 02").isChecked()).toBe(true);
  });

  it("is selected by a long press on a phone", async () => {
    await add(site(), "touched", 3);
    const tab = await site().open("/", phone);
    await tab.button("Show conversations").tap();
    const link = tab.page.getByRole("link", { name: "touched 01" });
    await link.waitFor();
    await link.dispatchEvent("pointerdown", { pointerType: "touch", bubbles: true });
    await expect.poll(() => box(tab, "touched 01").isChecked(), patience).toBe(true);
    await box(tab, "touched 02").tap();
    await expect.poll(() => bar(tab).getByRole("status").innerText(), patience).toBe("2 selected");
    await bar(tab).getByRole("button", { name: "Select all" }).tap();
    expect(await box(tab, "touched 03").isChecked()).toBe(true);
    expect(await findings(tab)).toEqual([]);
    const width = await tab.page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    expect(width).toBeLessThanOrEqual(0);
    await bar(tab).getByRole("button", { name: "End the selection" }).tap();
    await link.waitFor();
  });
});

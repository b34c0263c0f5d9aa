import type { ListConversationsResponse } from "@parley/wire";
import type { Locator } from "playwright-core";
import { expect, it } from "vitest";
import { asked, exportOf, said } from "./prepared-conversation.js";
import { describePage, type Site } from "./site.js";
import { patience, type Tab } from "./tab.js";

const quick = { models: { demo: { kind: "demo", pace: "instant", slowStepMs: 0 } } };

const entry = (tab: Tab, title: string) => tab.list.getByRole("link", { name: title });

async function titles(site: Site): Promise<string[]> {
  const { conversations } = await site.ask<ListConversationsResponse>("GET", "/conversations");
  return conversations.map(({ title }) => title);
}

/** Opens the menu of an entry of the list. */
async function openMenu(tab: Tab, title: string): Promise<void> {
  await entry(tab, title).hover();
  await tab.button(`Menu of ${title}`).click();
}

describePage("the page's list of conversations", quick, (site) => {
  it("renames in place, from the header and from the list, in every tab", async () => {
    const tab = await site().open();
    await tab.begin("a title to change");
    await tab.ended(1);
    const other = await site().open();
    await entry(other, "a title to change").waitFor();

    await tab.page.getByRole("heading", { level: 1 }).getByRole("button").click();
    await tab.page.getByRole("textbox", { name: "Title" }).fill("Changed in the header");
    await tab.page.keyboard.press("Enter");
    await Promise.all([tab, other].map((each) => entry(each, "Changed in the header").waitFor()));
    expect(await tab.page.getByRole("heading", { level: 1 }).innerText()).toBe("Changed in the header");

    await openMenu(other, "Changed in the header");
    await other.page.getByRole("menuitem", { name: "Rename" }).click();
    await other.page.getByRole("textbox", { name: "Title" }).fill("Changed in the list");
    await other.page.keyboard.press("Enter");
    await Promise.all([tab, other].map((each) => entry(each, "Changed in the list").waitFor()));

    // Esc leaves it as it was.
    await tab.page.getByRole("heading", { level: 1 }).getByRole("button").click();
    await tab.page.getByRole("textbox", { name: "Title" }).fill("never");
    await tab.page.keyboard.press("Escape");
    await tab.page.getByRole("heading", { level: 1, name: "Changed in the list" }).waitFor();
    expect(await titles(site())).toContain("Changed in the list");
  });

  it("deletes with an undo, and permanently without one, in every tab", async () => {
    const tab = await site().open();
    const elsewhere = await tab.begin("somewhere else");
    await tab.ended(1);
    await tab.page.getByRole("link", { name: "New conversation" }).click();
    await tab.page.waitForURL((url) => url.pathname === "/");
    await tab.begin("keep me after all");
    await tab.ended(1);
    const kept = tab.conversationId;
    await openMenu(tab, "keep me after all");
    await tab.page.getByRole("menuitem", { name: "Delete" }).click();
    await entry(tab, "keep me after all").waitFor({ state: "detached" });
    expect(new URL(tab.page.url()).pathname).toBe("/");
    const notes = tab.page.getByRole("list", { name: "Notifications" });
    await notes.getByRole("button", { name: "Undo" }).click();
    // It was open, and is again.
    await tab.page.waitForURL((url) => url.pathname.endsWith(kept));
    await entry(tab, "keep me after all").waitFor();
    await tab.ended(1);

    // A user who has gone elsewhere meanwhile stays there.
    await openMenu(tab, "keep me after all");
    await tab.page.getByRole("menuitem", { name: "Delete" }).click();
    await entry(tab, "somewhere else").click();
    await notes.getByRole("button", { name: "Undo" }).click();
    await entry(tab, "keep me after all").waitFor();
    expect(tab.conversationId).toBe(elsewhere);
    await entry(tab, "keep me after all").click();
    await tab.page.waitForURL((url) => url.pathname.endsWith(kept));
    await tab.ended(1);

    const other = await site().open();
    await entry(other, "keep me after all").waitFor();
    await tab.page.getByRole("button", { name: "Conversation menu" }).click();
    await tab.page.getByRole("menuitem", { name: "Delete" }).click();
    await notes.getByRole("button", { name: "Dismiss" }).click();
    await entry(other, "keep me after all").waitFor({ state: "detached" });
    await expect.poll(() => titles(site()), patience).not.toContain("keep me after all");
  });

  it("puts a conversation away, shows it apart, and reopens it by a message", async () => {
    const tab = await site().open();
    await tab.begin("put me away");
    await tab.ended(1);
    await openMenu(tab, "put me away");
    await tab.page.getByRole("menuitem", { name: "Close" }).click();
    const closed = tab.list.getByRole("region", { name: "Closed conversations" });
    await closed.getByRole("button", { name: "Closed (1)" }).click();
    await closed.getByRole("link", { name: "put me away" }).waitFor();
    const note = tab.page.getByText("This conversation is closed. A message reopens it.");
    await note.waitFor();
    await tab.page.reload();
    await note.waitFor();
    await tab.page.getByRole("button", { name: "Conversation menu" }).click();
    await tab.page.getByRole("menuitem", { name: "Reopen" }).click();
    await note.waitFor({ state: "detached" });
    await tab.page.getByRole("button", { name: "Conversation menu" }).click();
    await tab.page.getByRole("menuitem", { name: "Close" }).click();
    await note.waitFor();
    await tab.send("and take me out again");
    await tab.ended(2);
    await closed.waitFor({ state: "detached" });
    await entry(tab, "put me away").waitFor();
  });

  it("searches all messages and jumps to the hit, far above what was loaded", async () => {
    const turns = Array.from({ length: 600 }, (_, n) => [
      asked(`question ${n}`),
      said(n === 40 ? "Here hides the quokka among the words: 東京都の黒猫。" : `answer ${n}`),
    ]);
    await site().import(exportOf({ id: "searched", title: "A long search" }, turns));
    const tab = await site().open();
    const dialog = tab.dialog("Search messages");
    // A key that is pressed before the page listens is lost.
    await expect
      .poll(async () => {
        if ((await dialog.count()) === 0) await tab.page.keyboard.press("Control+Shift+F");
        return dialog.count();
      }, patience)
      .toBe(1);
    const field = dialog.getByRole("combobox");
    await field.fill("long sea");
    await dialog.getByRole("option").filter({ hasText: "title" }).waitFor();
    expect(await dialog.getByRole("option").count()).toBe(1);
    await field.fill("黒猫");
    const hit = dialog.getByRole("option").filter({ hasText: "hides the quokka among" });
    await hit.waitFor();
    expect(await hit.locator("mark").innerText()).toBe("黒猫");
    await field.fill("quok");
    await expect.poll(() => hit.locator("mark").allInnerTexts(), patience).toEqual(["quok"]);
    expect(await dialog.getByRole("option").count()).toBe(1);
    await tab.page.keyboard.press("Enter");
    await dialog.waitFor({ state: "detached" });
    const found = tab.log.getByText("Here hides the quokka");
    await found.waitFor();
    await expect
      .poll(
        () =>
          found.evaluate((element) => {
            const { top, bottom } = element.getBoundingClientRect();
            return top > 0 && bottom < innerHeight;
          }),
        patience,
      )
      .toBe(true);
    expect(tab.page.url()).toContain("/c/searched?seq=82");
  });

  it("says so when not everything could be searched", async () => {
    await site().import(exportOf({ id: "partial", title: "Partial" }, [[asked("ocelot"), said("ocelots")]]));
    const tab = await site().open();
    await tab.page.route("**/search?*", async (route) => {
      const response = await route.fetch();
      await route.fulfill({ response, json: { ...(await response.json()), partial: true } });
    });
    const dialog = tab.dialog("Search messages");
    await expect
      .poll(async () => {
        if ((await dialog.count()) === 0) await tab.page.keyboard.press("Control+Shift+F");
        return dialog.count();
      }, patience)
      .toBe(1);
    await dialog.getByRole("combobox").fill("ocelot");
    await dialog.getByText("not everything could be searched in time").waitFor();
    await dialog.getByRole("combobox").fill("margay");
    await dialog.getByText("Nothing was found in time").waitFor();
  });

  it("says so when earlier messages cannot be loaded, and loads them when the user tries again", async () => {
    const turns = Array.from({ length: 300 }, (_, n) => [asked(`question ${n}`), said(`answer ${n}`)]);
    await site().import(exportOf({ id: "cut-off", title: "Cut off" }, turns));
    const tab = await site().open("about:blank");
    tab.allow(/ERR_INTERNET_DISCONNECTED/);
    let isCut = true;
    let asks = 0;
    await tab.page.route(/\/conversations\/cut-off\?.*beforeSeq/, (route) => {
      asks += 1;
      return isCut ? route.abort("internetdisconnected") : route.continue();
    });
    await tab.page.goto(`${site().url}/c/cut-off`);
    await tab.log.getByText("answer 299").waitFor();
    await tab.log.evaluate((box) => box.scrollTo(0, 0));
    await expect.poll(() => asks, patience).toBe(1);
    const notes = tab.page.getByRole("list", { name: "Notifications" });
    await tab.button("Load earlier messages").click();
    await notes.getByText("Earlier messages could not be loaded").waitFor();
    expect(asks).toBe(2);
    isCut = false;
    const heightBefore = await tab.log.evaluate((box) => box.scrollHeight);
    await tab.button("Load earlier messages").click();
    await expect
      .poll(() => tab.log.evaluate((box) => box.scrollHeight), patience)
      .toBeGreaterThan(heightBefore);
  });

  it("branches off by editing a message and by regenerating an answer, and switches between the branches", async () => {
    const tab = await site().open();
    const origin = await tab.begin("work out 1 + 1");
    await tab.ended(1);
    await tab.send("work out 2 + 2");
    await tab.ended(2);

    await tab.questions.last().hover();
    await tab.questions.last().getByRole("button", { name: "Edit message" }).click();
    const editor = tab.log.getByRole("article", { name: "Edit your message" });
    await editor.getByRole("textbox").fill("work out 20 + 20");
    await editor.getByRole("button", { name: "Send as a branch" }).click();
    await tab.page.waitForURL((url) => !url.pathname.endsWith(origin));
    const edited = tab.conversationId;
    await tab.ended(2);
    expect(await tab.answers.last().innerText()).toContain("40");
    const switcher = tab.log.getByRole("group", { name: "Branches" });
    await switcher.getByText("2/2").waitFor();

    await tab.button("Regenerate answer").last().click();
    await tab.page.waitForURL((url) => !url.pathname.endsWith(edited));
    await tab.ended(2);
    await switcher.getByText("3/3").waitFor();
    expect(await tab.questions.allInnerTexts()).toEqual([
      expect.stringContaining("work out 1 + 1"),
      expect.stringContaining("work out 20 + 20"),
    ]);

    await switcher.getByRole("button", { name: "Previous branch" }).click();
    await tab.page.waitForURL((url) => url.pathname.endsWith(edited));
    await switcher.getByRole("button", { name: "Previous branch" }).click();
    await tab.page.waitForURL((url) => url.pathname.endsWith(origin));
    await tab.questions.getByText("work out 2 + 2").waitFor();
    await switcher.getByText("1/3").waitFor();
    expect(await switcher.getByRole("button", { name: "Previous branch" }).isDisabled()).toBe(true);

    // The list shows them as one, which opens.
    await tab.list.getByRole("button", { name: "3 branches" }).click();
    expect(await entry(tab, "work out 1 + 1").count()).toBe(3);
    const numbersIn = async (entries: Locator) =>
      (await entries.allInnerTexts()).map((text) => /^\d+(?=\n)/.exec(text)?.[0]);
    const listed = await numbersIn(entry(tab, "work out 1 + 1"));
    expect(listed).toEqual([undefined, "3", "2"]);

    // The palette distinguishes them by the same numbers.
    await tab.page.keyboard.press("Control+k");
    const options = tab.dialog("Commands").getByRole("option").filter({ hasText: "work out 1 + 1" });
    await expect.poll(() => numbersIn(options), patience).toEqual(["3", "2"]);
  });

  it("switches to branches that are far down in the list, and to none that is gone", async () => {
    const turns = [0, 1].map((n) => [asked(`question ${n}`), said(`answer ${n}`)]);
    const longAgo = Date.now() - 3_600_000;
    await site().import(exportOf({ id: "old-origin", title: "Old origin", endedAt: longAgo }, turns));
    for (const [id, from] of [
      ["old-first", "old-origin"],
      ["old-second", "old-first"],
    ] as const) {
      await site().ask("POST", `/conversations/${from}/fork`, { atSeq: 2, id, message: `asked as ${id}` });
    }
    for (let n = 0; n <= 50; n += 1) {
      const newer = { id: `newer-${n}`, title: `Newer ${n}`, endedAt: Date.now() + 3_600_000 };
      await site().import(exportOf(newer, [[asked("hello"), said("hi")]]));
    }
    const tab = await site().open("/c/old-origin");
    await tab.list.getByRole("button", { name: "Show older conversations" }).waitFor();
    expect(await entry(tab, "Old origin").count()).toBe(0);
    const switcher = tab.log.getByRole("group", { name: "Branches" });
    await switcher.getByText("1/3").waitFor();
    await switcher.getByRole("button", { name: "Next branch" }).click();
    await tab.questions.getByText("asked as old-first").waitFor();
    // What was found once is shown at once.
    expect(await switcher.innerText()).toContain("2/3");
    await switcher.getByRole("button", { name: "Next branch" }).click();
    await tab.questions.getByText("asked as old-second").waitFor();
    await switcher.getByText("3/3").waitFor();

    await site().ask("DELETE", "/conversations/old-first");
    tab.allowMissing();
    await tab.page.reload();
    await tab.questions.getByText("asked as old-second").waitFor();
    await tab.page.getByRole("link", { name: "Open the conversation this one branched off" }).waitFor({
      state: "detached",
    });
    expect(await switcher.count()).toBe(0);
  });
});

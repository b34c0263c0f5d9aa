import type { Locator } from "playwright-core";
import { expect, it } from "vitest";
import { asked, exportOf, said } from "./prepared-conversation.js";
import { describePage } from "./site.js";
import { desktop, patience, type Tab } from "./tab.js";

const config = {
  models: { quick: { kind: "demo", pace: "instant", slowStepMs: 0 }, demo: { kind: "demo" } },
  defaultModel: "quick/demo",
};

const hasFocus = (locator: Locator) => locator.evaluate((element) => element === document.activeElement);

/** Presses Tab until this has the focus. */
async function tabTo(tab: Tab, locator: Locator, key = "Tab"): Promise<void> {
  for (let presses = 0; presses < 60; presses += 1) {
    if (await hasFocus(locator)) return;
    await tab.page.keyboard.press(key);
  }
  throw new Error(`${locator} cannot be reached with ${key}; the focus is at "${await tab.focused()}"`);
}

describePage("the page by keyboard alone", config, (site) => {
  it("talks, breaks lines, edits the last message and leaves it", async () => {
    const tab = await site().open();
    tab.allowMissing();
    const { keyboard } = tab.page;
    await expect.poll(() => tab.focused(), patience).toBe("Message");
    await keyboard.type("first line");
    await keyboard.press("Shift+Enter");
    await keyboard.type("second line");
    await keyboard.press("Enter");
    await tab.ended(1);
    expect(await tab.questions.first().innerText()).toContain("first line\nsecond line");
    await expect.poll(() => tab.focused(), patience).toBe("Message");
    await keyboard.press("ArrowUp");
    const editor = tab.log.getByRole("article", { name: "Edit your message" }).getByRole("textbox");
    await expect.poll(() => hasFocus(editor), patience).toBe(true);
    await keyboard.press("Escape");
    await editor.waitFor({ state: "detached" });
    expect(await hasFocus(tab.composer)).toBe(true);
  });

  it("shows the editor of the last message from its upper border on, also where the message is at the top", async () => {
    for (const paragraphs of [8, 9, 10]) {
      const id = `edited-at-the-top-${paragraphs}`;
      const answer = Array.from({ length: paragraphs }, (_, n) => `paragraph ${n + 1}`).join("\n\n");
      const earlier = Array.from({ length: 9 }, (_, n) => [
        asked(`question ${n + 1}`),
        said("a short answer"),
      ]);
      const turns = [...earlier, [asked("the last question"), said(answer)]];
      await site().import(exportOf({ id, title: "A long one" }, turns));
      const tab = await site().open(`/c/${id}`, { ...desktop, viewport: { width: 1280, height: 720 } });
      await tab.log.getByText(`paragraph ${paragraphs}`).last().waitFor();
      await expect
        .poll(async () => {
          await tab.log.evaluate((box) => box.scrollTo(0, box.scrollHeight));
          return tab.distanceFromEnd();
        }, patience)
        .toBeLessThan(2);
      await expect.poll(() => tab.focused(), patience).toBe("Message");
      await tab.page.keyboard.press("ArrowUp");
      const editor = tab.log.getByRole("article", { name: "Edit your message" });
      await expect.poll(() => hasFocus(editor.getByRole("textbox")), patience).toBe(true);
      const hidden = async () => {
        const [shown, view] = await Promise.all([editor.boundingBox(), tab.log.boundingBox()]);
        return (view?.y ?? 0) - (shown?.y ?? 0);
      };
      await expect.poll(hidden, patience).toBeLessThanOrEqual(0);
    }
  });

  it("finds every command in the palette: theme, model, inspector, and the way to another conversation", async () => {
    const tab = await site().open();
    const { keyboard } = tab.page;
    const palette = tab.dialog("Commands");
    await expect.poll(() => tab.focused(), patience).toBe("Message");
    const order = async (...keys: readonly string[]) => {
      await keyboard.press("Control+k");
      await palette.getByRole("combobox").waitFor();
      for (const each of keys) {
        await keyboard.type(each);
        await expect
          .poll(() => palette.getByRole("option", { selected: true }).innerText(), patience)
          .toMatch(new RegExp(each.split(" ").join(".*"), "i"));
        await keyboard.press("Enter");
      }
      await palette.waitFor({ state: "detached" });
    };
    await order("dark theme");
    expect(await tab.page.locator("html").getAttribute("data-theme")).toBe("dark");
    await order("switch model", "quick");
    await tab.begin("from the keyboard");
    await tab.ended(1);
    await order("inspector");
    await tab.page.getByRole("complementary", { name: "Inspector" }).waitFor();
    await order("new conversation");
    await tab.page.waitForURL((url) => url.pathname === "/");
    await order("from the keyboard");
    await tab.page.waitForURL(/\/c\//);
    await keyboard.press("Control+k");
    await keyboard.type("xyzzy no such thing");
    await palette.getByText("Search messages for “xyzzy no such thing”").waitFor();
    await keyboard.press("Escape");
    await palette.waitFor({ state: "detached" });
    await expect.poll(() => tab.focused(), patience).toBe("Message");
  });

  it("keeps what is typed behind a shortcut out of the message, and gives the focus back", async () => {
    const tab = await site().open("about:blank");
    const held = await tab.hold(/\/assets\/search-dialog-.*\.js$/);
    await tab.page.goto(site().url);
    await tab.composer.click();
    await tab.page.keyboard.press("Control+Shift+F");
    await expect.poll(held.asked, patience).toBe(1);
    await tab.page.keyboard.type("early");
    held.release();
    const dialog = tab.dialog("Search messages");
    await dialog.getByRole("combobox").waitFor();
    await expect
      .poll(() => dialog.getByRole("combobox").evaluate((field) => field === document.activeElement))
      .toBe(true);
    await tab.page.keyboard.type("late");
    expect(await dialog.getByRole("combobox").inputValue()).toBe("late");
    await tab.page.keyboard.press("Escape");
    await dialog.waitFor({ state: "detached" });
    await expect.poll(() => tab.composer.evaluate((field) => field === document.activeElement)).toBe(true);
    expect(await tab.composer.inputValue()).toBe("");
  });

  it("lists its shortcuts", async () => {
    const tab = await site().open();
    const { keyboard } = tab.page;
    await expect.poll(() => tab.focused(), patience).toBe("Message");
    await keyboard.type("?");
    expect(await tab.composer.inputValue()).toBe("?");
    await keyboard.press("Backspace");
    await keyboard.press("Shift+Tab");
    await keyboard.press("?");
    const sheet = tab.dialog("Keyboard shortcuts");
    await sheet.waitFor();
    const words = await sheet.innerText();
    for (const name of [
      "New conversation",
      "Steer the running turn",
      "Stop the running turn",
      "Command palette",
    ])
      expect(words).toContain(name);
    await keyboard.press("Escape");
    await sheet.waitFor({ state: "detached" });
    await keyboard.press("/");
    await expect.poll(() => tab.focused(), patience).toBe("Message");
  });

  it("walks the list, renames, deletes and takes that back", async () => {
    const tab = await site().open();
    const { keyboard } = tab.page;
    for (const text of ["the older one", "the newer one"]) {
      await keyboard.press("Control+Shift+O");
      await tab.page.waitForURL((url) => url.pathname === "/");
      await tab.begin(text);
      await tab.ended(1);
    }
    const entry = (title: string) => tab.list.getByRole("link", { name: title });
    await tabTo(tab, entry("the newer one"), "Shift+Tab");
    await keyboard.press("ArrowDown");
    expect(await hasFocus(entry("the older one"))).toBe(true);
    await keyboard.press("Enter");
    await tab.page.getByRole("heading", { level: 1, name: "the older one" }).waitFor();
    await tabTo(tab, entry("the older one"), "Shift+Tab");
    await keyboard.press("F2");
    await expect.poll(() => tab.focused(), patience).toBe("Title");
    await keyboard.press("Control+a");
    await keyboard.type("renamed by keyboard");
    await keyboard.press("Enter");
    const renamed = entry("renamed by keyboard");
    await tabTo(tab, renamed, "Shift+Tab");
    await keyboard.press("Delete");
    await renamed.waitFor({ state: "detached" });
    await tabTo(tab, tab.button("Undo"));
    await keyboard.press("Enter");
    await renamed.waitFor();
  });

  it("steers and stops a running turn, and opens menus", async () => {
    const tab = await site().open();
    const { keyboard } = tab.page;
    await tabTo(tab, tab.page.getByRole("button", { name: /^Model: / }));
    await keyboard.press("Enter");
    await keyboard.type("demo/");
    await keyboard.press("Enter");
    await expect.poll(() => tab.focused(), patience).toBe("Model: demo/demo");
    await keyboard.press("/");
    await tab.begin("Give me a long answer");
    await tab.log.getByText("You asked for something long").waitFor();
    await keyboard.type("this one steers");
    await keyboard.press("Control+Enter");
    await tab.page.getByRole("region", { name: "Queue" }).getByText("this one steers").waitFor();
    await keyboard.press("Escape");
    await tab.log.getByText("Stopped. The text until then is kept.").waitFor();
  });
});

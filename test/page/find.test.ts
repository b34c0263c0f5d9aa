import { expect, it } from "vitest";
import { findings } from "./axe.js";
import { asked, exportOf, said } from "./prepared-conversation.js";
import { describePage } from "./site.js";
import { patience, phone, type Tab } from "./tab.js";

const quick = { models: { demo: { kind: "demo", pace: "instant", slowStepMs: 0 } } };

const bar = (tab: Tab) => tab.page.getByRole("search", { name: "Find in this conversation" });
const field = (tab: Tab) => bar(tab).getByRole("textbox", { name: "Words to find" });
const status = (tab: Tab) => bar(tab).getByRole("status");

/** Presses keys until the bar is there: what is pressed before the page listens is lost. */
async function openBar(tab: Tab): Promise<void> {
  await expect
    .poll(async () => {
      if ((await bar(tab).count()) === 0) await tab.page.keyboard.press("Control+F");
      return bar(tab).count();
    }, patience)
    .toBe(1);
}

/** The words that are marked in the text. */
const marked = (tab: Tab) =>
  tab.page.evaluate(() =>
    [...(CSS.highlights.get("search-match") ?? [])].map((range) => range.toString().toLowerCase()),
  );

async function isInView(tab: Tab, text: string): Promise<boolean> {
  const found = tab.log.getByText(text);
  if ((await found.count()) === 0) return false;
  return found.first().evaluate((element) => {
    const { top, bottom } = element.getBoundingClientRect();
    return top >= 0 && bottom <= innerHeight;
  });
}

describePage("finding within a conversation", quick, (site) => {
  it("counts the messages, goes from one to the next, marks the words, and gives the focus back", async () => {
    const turns = Array.from({ length: 400 }, (_, n) => [
      asked(`question ${n}`),
      said(n === 20 || n === 200 || n === 390 ? `The **quokka** hides in number ${n}.` : `answer ${n}`),
    ]);
    await site().import(exportOf({ id: "found", title: "Where quokkas hide" }, turns));
    await site().import(
      exportOf({ id: "elsewhere", title: "Elsewhere" }, [[asked("quokka"), said("quokka")]]),
    );
    const tab = await site().open("/c/found");
    await tab.log.getByText("answer 399").waitFor();
    await tab.composer.focus();
    await openBar(tab);
    expect(await field(tab).evaluate((element) => element === document.activeElement)).toBe(true);
    await field(tab).fill("quokka");
    await expect.poll(() => status(tab).innerText(), patience).toBe("3 of 3");
    await expect.poll(() => isInView(tab, "hides in number 390"), patience).toBe(true);
    await expect.poll(() => marked(tab), patience).toEqual(["quokka"]);
    expect(await findings(tab)).toEqual([]);

    await tab.page.keyboard.press("Shift+Enter");
    await expect.poll(() => isInView(tab, "hides in number 200"), patience).toBe(true);
    await tab.page.keyboard.press("Shift+Enter");
    await expect.poll(() => isInView(tab, "hides in number 20."), patience).toBe(true);
    expect(await status(tab).innerText()).toBe("1 of 3");
    await expect.poll(() => marked(tab), patience).toEqual(["quokka"]);
    // Around at the end, and back.
    await tab.page.keyboard.press("Shift+Enter");
    await expect.poll(() => isInView(tab, "hides in number 390"), patience).toBe(true);
    await tab.page.keyboard.press("Enter");
    await expect.poll(() => isInView(tab, "hides in number 20."), patience).toBe(true);
    // All words, the last one by its beginning, in the message that is shown already.
    await field(tab).fill("hides quok");
    await expect.poll(() => marked(tab), patience).toEqual(["quok", "hides"]);

    await field(tab).fill("wombat");
    await expect.poll(() => status(tab).innerText(), patience).toBe("No match");
    expect(await bar(tab).getByRole("button", { name: "Next match" }).isDisabled()).toBe(true);
    expect(await marked(tab)).toEqual([]);
    await field(tab).fill("quokka");
    await expect.poll(() => marked(tab), patience).toEqual(["quokka"]);
    await tab.page.keyboard.press("Escape");
    await bar(tab).waitFor({ state: "detached" });
    expect(await tab.composer.evaluate((element) => element === document.activeElement)).toBe(true);
    // Marks go after the frame without the bar.
    await expect.poll(() => marked(tab), patience).toEqual([]);
  });

  it("leaves the keys to the browser once it is open, and never stops a turn by Esc", async () => {
    await site().import(exportOf({ id: "keys", title: "Keys" }, [[asked("a word"), said("another word")]]));
    const tab = await site().open("/c/keys");
    await tab.log.getByText("another word").waitFor();
    await openBar(tab);
    const isOurs = () =>
      field(tab).evaluate((element) => {
        const event = new KeyboardEvent("keydown", {
          key: "f",
          ctrlKey: true,
          bubbles: true,
          cancelable: true,
        });
        element.dispatchEvent(event);
        return event.defaultPrevented;
      });
    await expect.poll(isOurs, patience).toBe(false);
    await tab.page.keyboard.press("Escape");
    await bar(tab).waitFor({ state: "detached" });
    await expect
      .poll(
        () =>
          tab.log.evaluate((element) => {
            const event = new KeyboardEvent("keydown", {
              key: "f",
              ctrlKey: true,
              bubbles: true,
              cancelable: true,
            });
            element.dispatchEvent(event);
            return event.defaultPrevented;
          }),
        patience,
      )
      .toBe(true);
    await bar(tab).waitFor();
  });

  it("is in the menu of a phone, and fits", async () => {
    await site().import(exportOf({ id: "small", title: "Small" }, [[asked("a word"), said("another word")]]));
    const tab = await site().open("/c/small", phone);
    await tab.log.getByText("another word").waitFor();
    await tab.button("Conversation menu").tap();
    await tab.page.getByRole("menuitem", { name: "Find" }).tap();
    await field(tab).fill("word");
    await expect.poll(() => status(tab).innerText(), patience).toBe("2 of 2");
    const width = await tab.page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    expect(width).toBeLessThanOrEqual(0);
    expect(await findings(tab)).toEqual([]);
    await bar(tab).getByRole("button", { name: "Previous match" }).tap();
    await expect.poll(() => status(tab).innerText(), patience).toBe("1 of 2");
    await bar(tab).getByRole("button", { name: "Close the search" }).tap();
    await bar(tab).waitFor({ state: "detached" });
  });
});

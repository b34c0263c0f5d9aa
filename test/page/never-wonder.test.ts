import { afterAll, expect, it } from "vitest";
import { describePage } from "./site.js";
import { patience, type Tab } from "./tab.js";
import { type Piece, Upstream } from "./upstream.js";

let upstream: Upstream | undefined;
afterAll(() => upstream?.end());

/** Starts a server that is too busy once and out of order for some questions, with the demo model beside it. */
async function config(): Promise<object> {
  let wasBusy = false;
  upstream = await Upstream.start(
    function* (): Iterable<Piece> {
      yield { text: "Here I am." };
    },
    {
      refuse: (question) => {
        if (question.includes("out of order")) return { status: 503 };
        if (wasBusy) return undefined;
        wasBusy = true;
        return { status: 429, retryAfter: 6 };
      },
    },
  );
  return {
    store: { folder: ".parley", durable: false },
    models: { local: upstream.credential, demo: { kind: "demo" } },
    defaultModel: "local/example",
  };
}

async function choose(tab: Tab, model: RegExp): Promise<void> {
  await tab.page.getByRole("button", { name: /^Model:/ }).click();
  await tab.page.getByRole("menuitemradio", { name: model }).click();
}

describePage("the page while nothing arrives", config, (site) => {
  it("counts down to the next attempt with its cause, also after a reload, and keeps no word of it", async () => {
    const tab = await site().open();
    await tab.begin("Are you busy?");
    const notice = tab.log.getByText(/^Retrying in \d s/);
    await notice.waitFor();
    expect(await notice.innerText()).toContain("The provider limits how often it is asked");
    await tab.page.reload();
    await tab.log.getByText(/^(Retrying in \d s|Asking the model again)/).waitFor();
    await tab.answers.getByText("Here I am.").waitFor(patience);
    await tab.ended(1);
    expect(await tab.log.getByText(/Retrying|Asking/).count()).toBe(0);
    const whole = await tab.page.evaluate(
      async (id) => (await fetch(`/conversations/${id}/export`)).text(),
      tab.conversationId,
    );
    expect(whole).toContain("Here I am.");
    expect(whole).not.toContain("retrying");
  });

  it("offers another model where one fails, and continues with that", async () => {
    const tab = await site().open();
    tab.allowMissing();
    const failed = await tab.begin("Are you out of order?");
    const card = tab.log.getByRole("group", { name: "Error" });
    await card.getByText("The provider is overloaded or failed").waitFor(patience);
    await tab.list.getByRole("link", { name: /Are you out of order\?.*Failed/ }).waitFor(patience);
    await card.getByRole("button", { name: "Retry with another model" }).click();
    expect(await tab.page.getByRole("menuitem").allInnerTexts()).toEqual(["demo/demo"]);
    await tab.page.getByRole("menuitem", { name: "demo/demo" }).click();
    await expect.poll(() => tab.conversationId, patience).not.toBe(failed);
    await tab.answers.getByText("I am the demo model").waitFor(patience);
    await tab.ended(1);
    await tab.page.getByRole("button", { name: /^Model: demo\/demo/ }).waitFor();
  });

  it("shows a stopped tool as stopped, with a clock that a reload does not set back", async () => {
    const tab = await site().open();
    tab.allowMissing();
    await choose(tab, /^demo\/demo/);
    await tab.begin("Use the slow tool");
    const card = tab.log.getByRole("group", { name: "Tool call" }).getByRole("button").first();
    await expect.poll(() => card.innerText(), patience).toMatch(/[2-9](\.\d)? s/);
    await tab.page.reload();
    // At once, not when this tab has seen it run for a while.
    await expect.poll(() => card.innerText(), { ...patience, interval: 20 }).toMatch(/\d(\.\d)? s/);
    expect(await card.innerText()).toMatch(/[2-9](\.\d)? s/);
    await tab.stopButton.click();
    await tab.ended(1);
    const words = await card.innerText();
    expect(words).toContain("Stopped");
    expect(words).not.toContain("Failed");
  });
});

describePage("small things on the page", {}, (site) => {
  it("offers no way to the latest message where that is in view, and asks for no preview of nothing", async () => {
    const tab = await site().open();
    tab.allowMissing();
    await tab.begin("a long answer please");
    await tab.ended(1);
    await tab.log.hover();
    await tab.page.mouse.wheel(0, -24);
    await expect.poll(() => tab.distanceFromEnd(), patience).toBeGreaterThan(0);
    expect(await tab.button("Jump to latest").count()).toBe(0);
    await tab.page.mouse.wheel(0, -400);
    await tab.button("Jump to latest").click();
    await tab.button("Jump to latest").waitFor({ state: "detached" });
    await expect.poll(() => tab.distanceFromEnd(), patience).toBeLessThan(64);

    await tab.page.keyboard.press("Control+k");
    await tab.page.getByRole("combobox").fill("Compact");
    await tab.page
      .getByRole("option", { name: /Compact/ })
      .first()
      .click();
    await tab.dialog("Compact").getByText("There is nothing to compact.").waitFor();
    await tab.page.keyboard.press("Escape");

    await tab.page.keyboard.press("Control+k");
    await tab.page.getByRole("combobox").fill("Close the conversation");
    await tab.page
      .getByRole("option", { name: /Close the conversation/ })
      .first()
      .click();
    // Between the lower edge of the note and the bar below it.
    const gap = async () => {
      // The note has a button of that name, too.
      const composer = tab.page.getByRole("region", { name: "Composer" });
      const bar = await composer.getByRole("button", { name: "Reopen" }).boundingBox();
      const notes = tab.page.getByRole("list", { name: "Notifications" });
      const note = await notes.getByRole("listitem").boundingBox();
      return bar === null || note === null ? undefined : bar.y - (note.y + note.height);
    };
    await expect.poll(gap, patience).toBeGreaterThanOrEqual(0);
  });
});

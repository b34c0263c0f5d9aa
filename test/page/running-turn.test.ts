import type { HistoryResponse } from "@parley/wire";
import { expect, it, onTestFinished } from "vitest";
import { CutWire } from "./cut-wire.js";
import { describePage, type Site } from "./site.js";
import { desktop, patience, type Tab } from "./tab.js";

/** Words of the demo model's long answer: one at its beginning, one that comes later. */
const early = "You asked for something long";
const later = "Nothing is copied between a cache, a table and a page";

/** Note on a message while the connection is down. */
const isUnsent = "Unsent: waits for the connection";

const unsentOf = (tab: Tab) => tab.page.getByRole("region", { name: "Unsent" });
const queueOf = (tab: Tab) => tab.page.getByRole("region", { name: "Queue" });
/** Returns the texts of the queue, in order. */
const waiting = (tab: Tab) => queueOf(tab).getByRole("listitem").locator("p[dir]").allInnerTexts();

async function textsOf(site: Site, conversationId: string, role: string): Promise<string[]> {
  const { chunks } = await site.ask<HistoryResponse>("GET", `/conversations/${conversationId}?open=true`);
  return chunks.flatMap(({ role: by, chunk }) => (by === role && chunk.type === "text" ? [chunk.text] : []));
}

// The demo model at the pace of a reader, with a slow tool that is no slower than it takes to act meanwhile.
const paced = { models: { demo: { kind: "demo", slowStepMs: 400 } } };

describePage("the page while a turn runs", paced, (site) => {
  it("offers to queue and to steer, and what was steered joins the turn behind its tools", async () => {
    const tab = await site().open();
    await tab.begin("Start the slow tool");
    await tab.log.getByText("step 1 of 5 done").first().waitFor();
    await tab.composer.fill("and be brief");
    await tab.button("Queue").waitFor();
    await tab.button("Steer").waitFor();
    await tab.composer.press("Control+Enter");
    await queueOf(tab).getByText("Steers: joins the turn when its tools are done").waitFor();
    expect(await tab.composer.inputValue()).toBe("");
    await tab.ended(1);
    await queueOf(tab).waitFor({ state: "detached" });
    const steered = tab.questions.filter({ hasText: "and be brief" });
    expect(await steered.innerText()).toContain("Steered into the turn");
    expect(await tab.answers.last().innerText()).toContain(
      'You steered me while I was at work: "and be brief"',
    );
  });

  it("lets what waits be edited, moved, switched and removed, keeps it through a stop and sends it then", async () => {
    const tab = await site().open();
    const id = await tab.begin("Give me a long answer");
    await tab.log.getByText(early).waitFor();
    for (const text of ["work out 1 + 1", "work out 2 + 2", "never mind"]) {
      await tab.send(text);
      await queueOf(tab).getByText(text).waitFor();
    }
    expect(await waiting(tab)).toEqual(["work out 1 + 1", "work out 2 + 2", "never mind"]);
    await queueOf(tab).getByText("3 messages wait").waitFor();

    await tab.page.getByRole("button", { name: /^Move message 2 of 3/ }).press("ArrowUp");
    await expect
      .poll(() => waiting(tab), patience)
      .toEqual(["work out 2 + 2", "work out 1 + 1", "never mind"]);
    expect(await tab.focused()).toMatch(/^Move message 1 of 3/);

    await tab.button("Edit queued message").nth(1).click();
    await tab.page.getByRole("textbox", { name: "Queued message" }).fill("work out 3 + 4");
    await tab.page.keyboard.press("Enter");
    await expect
      .poll(() => waiting(tab), patience)
      .toEqual(["work out 2 + 2", "work out 3 + 4", "never mind"]);

    await tab.button("Steer now").nth(2).press("Enter");
    await queueOf(tab).getByText("Steers: joins the turn").waitFor();
    await expect.poll(() => tab.focused(), patience).toBe("Queue instead");
    await tab.button("Queue instead").press("Enter");
    await queueOf(tab).getByText("Steers: joins the turn").waitFor({ state: "detached" });
    await expect.poll(() => tab.focused(), patience).toBe("Steer now");
    await tab.button("Remove queued message").nth(2).click();
    await expect.poll(() => waiting(tab), patience).toEqual(["work out 2 + 2", "work out 3 + 4"]);

    await tab.stopButton.click();
    await queueOf(tab).getByText("Paused after a stop or an error. Nothing is lost.").waitFor();
    await tab.log.getByText("Stopped. The text until then is kept.").waitFor();
    await tab.page.reload();
    await tab.button("Send queued (2)").click();
    await tab.ended(3);
    expect(await textsOf(site(), id, "user")).toEqual([
      "Give me a long answer",
      "work out 2 + 2",
      "work out 3 + 4",
    ]);
    await queueOf(tab).waitFor({ state: "detached" });
  });

  it("lists what waits in the order in which it is sent: what steers first, and moved among its own kind", async () => {
    const tab = await site().open();
    const id = await tab.begin("Give me a long answer");
    await tab.log.getByText(early).waitFor();
    for (const [text, keys] of [
      ["work out 1 + 1", "Enter"],
      ["work out 2 + 2", "Enter"],
      ["first to steer", "Control+Enter"],
      ["second to steer", "Control+Enter"],
    ] as const) {
      await tab.send(text, keys);
      await queueOf(tab).getByText(text).waitFor();
    }
    const steers = ["first to steer", "second to steer"];
    expect(await waiting(tab)).toEqual([...steers, "work out 1 + 1", "work out 2 + 2"]);
    await tab.stopButton.click();
    await tab.button("Send queued (4)").waitFor();
    expect(await waiting(tab)).toEqual([...steers, "work out 1 + 1", "work out 2 + 2"]);

    // A queued message does not overtake a steering one.
    const handle = (place: number) =>
      tab.page.getByRole("button", { name: new RegExp(`^Move message ${place} of 4`) });
    await handle(3).press("ArrowUp");
    expect(await waiting(tab)).toEqual([...steers, "work out 1 + 1", "work out 2 + 2"]);
    const moved = () => tab.page.waitForResponse((response) => response.request().method() === "PATCH");
    const pressed = moved();
    await handle(1).press("ArrowDown");
    await pressed;
    steers.reverse();
    await expect.poll(() => waiting(tab), patience).toEqual([...steers, "work out 1 + 1", "work out 2 + 2"]);
    const items = queueOf(tab).getByRole("listitem");
    const dragged = moved();
    await items.nth(3).dragTo(items.nth(0));
    await dragged;
    const order = [...steers, "work out 2 + 2", "work out 1 + 1"];
    await expect.poll(() => waiting(tab), patience).toEqual(order);
    await tab.page.reload();
    await tab.button("Send queued (4)").waitFor();
    expect(await waiting(tab)).toEqual(order);
    await tab.button("Send queued (4)").click();
    await queueOf(tab).waitFor({ state: "detached" });
    await tab.stopButton.waitFor({ state: "detached" });
    expect((await textsOf(site(), id, "user")).slice(1)).toEqual(order);
  });

  it("stops by Esc, and the answer until then stays, marked", async () => {
    const tab = await site().open();
    const id = await tab.begin("Give me a long answer");
    await tab.log.getByText(early).waitFor();
    await tab.composer.press("Escape");
    const mark = tab.log.getByText("Stopped. The text until then is kept.");
    await mark.waitFor();
    await tab.ended(1);
    const shown = await tab.answers.last().innerText();
    expect(shown).toContain(early);
    const [kept] = await textsOf(site(), id, "assistant");
    expect(kept).toContain(early);
    await tab.page.reload();
    await mark.waitFor();
    expect(await tab.answers.last().innerText()).toBe(shown);
  });

  it("shows the same running turn after a reload, in another tab and to a user who stops it there", async () => {
    const tab = await site().open();
    const id = await tab.begin("Give me a long answer");
    await tab.log.getByText(early).waitFor();
    await tab.page.reload();
    await tab.stopButton.waitFor();
    const other = await site().open(`/c/${id}`);
    await Promise.all([tab, other].map((each) => each.log.getByText(later).waitFor()));
    await other.stopButton.click();
    await Promise.all([tab, other].map((each) => each.ended(1)));
    const mine = await tab.log.innerText();
    expect(mine).toContain("Stopped.");
    expect(mine.split(early)).toHaveLength(2);
    await expect.poll(() => other.log.innerText(), patience).toBe(mine);
    expect(await textsOf(site(), id, "user")).toEqual(["Give me a long answer"]);
    expect(await tab.questions.count()).toBe(1);
  });

  it("says that the connection is lost, reconnects by itself, and misses nothing", async () => {
    const wire = await CutWire.to(site().server.port);
    onTestFinished(() => wire.end());
    const tab = await site().open("/", { ...desktop, origin: wire.url });
    tab.allow(/ERR_CONNECTION|ERR_EMPTY_RESPONSE|ERR_SOCKET/);
    const id = await tab.begin("Give me a long answer");
    await tab.log.getByText(early).waitFor();
    wire.cut();
    const banner = tab.page.getByText("Reconnecting. Turns continue on the server, and nothing is lost.");
    await banner.waitFor();
    const before = await tab.answers.last().innerText();
    wire.mend();
    await banner.waitFor({ state: "detached" });
    await tab.log.getByText(later).waitFor();
    await tab.stopButton.click();
    await tab.ended(1);
    const after = await tab.answers.last().innerText();
    expect(after.length).toBeGreaterThan(before.length);
    const fresh = await site().open(`/c/${id}`);
    await fresh.ended(1);
    // Text is there at once, and drawn as markdown when that has been loaded.
    await expect.poll(() => fresh.answers.last().innerText(), patience).toBe(after);
  });

  it("works offline as far as possible: messages are kept, shown as unsent, and sent when there is a network", async () => {
    const tab = await site().open();
    tab.allow(/ERR_INTERNET_DISCONNECTED/);
    const id = await tab.begin("work out 5 + 6");
    await tab.ended(1);
    await tab.context.setOffline(true);
    const banner = tab.page.getByText("You are offline.");
    await banner.waitFor();
    await tab.send("work out 7 + 8");
    await tab.questions.getByText("work out 7 + 8").waitFor();
    await tab.context.setOffline(false);
    await banner.waitFor({ state: "detached" });
    const retry = tab.log.getByRole("alert").getByRole("button", { name: "Retry" });
    await expect
      .poll(async () => {
        // It is sent by itself, or reports that it was not and offers a retry.
        if ((await retry.count()) > 0) await retry.click();
        return textsOf(site(), id, "user");
      }, patience)
      .toEqual(["work out 5 + 6", "work out 7 + 8"]);
    await tab.ended(2);
    expect(await tab.answers.last().innerText()).toContain("15");
  });

  it("shows what is queued and steered while the connection is away as unsent, until it is there or removed", async () => {
    const wire = await CutWire.to(site().server.port);
    onTestFinished(() => wire.end());
    const tab = await site().open("/", { ...desktop, origin: wire.url });
    tab.allow(/ERR_CONNECTION|ERR_EMPTY_RESPONSE|ERR_SOCKET|Connection closed before/);
    const id = await tab.begin("Give me a long answer");
    await tab.log.getByText(early).waitFor();
    wire.cut();
    await tab.send("work out 1 + 1");
    await tab.send("never mind");
    await tab.send("be brief", "Control+Enter");
    const unsent = unsentOf(tab).getByRole("listitem");
    await expect
      .poll(() => unsent.allInnerTexts(), patience)
      .toEqual([
        `work out 1 + 1\n\n${isUnsent}, then queues`,
        `never mind\n\n${isUnsent}, then queues`,
        `be brief\n\n${isUnsent}, then steers`,
      ]);
    expect(await queueOf(tab).count()).toBe(0);
    await tab.button("Remove unsent message").nth(1).click();
    await expect.poll(() => unsent.count(), patience).toBe(2);
    // The turn is stopped without the page, so that nothing is delivered before it was seen to wait.
    await site().ask("POST", `/conversations/${id}/stop`);
    wire.mend();
    await unsentOf(tab).waitFor({ state: "detached" });
    await expect
      .poll(async () => [...(await textsOf(site(), id, "user")), ...(await waiting(tab))], patience)
      .toEqual(expect.arrayContaining(["Give me a long answer", "work out 1 + 1", "be brief"]));
    expect(await tab.page.getByText("never mind").count()).toBe(0);
  });

  it("holds what is queued offline until there is a network, also where the socket never broke", async () => {
    const tab = await site().open();
    tab.allow(/ERR_INTERNET_DISCONNECTED/);
    await tab.begin("Give me a long answer");
    await tab.log.getByText(early).waitFor();
    await tab.context.setOffline(true);
    await tab.send("work out 1 + 1");
    await unsentOf(tab).getByText(isUnsent).waitFor();
    await tab.context.setOffline(false);
    await unsentOf(tab).waitFor({ state: "detached" });
    await tab.page.getByText("work out 1 + 1", { exact: true }).first().waitFor();
  });

  it("says of a message that was sent while the connection is lost that it is unsent", async () => {
    const wire = await CutWire.to(site().server.port);
    onTestFinished(() => wire.end());
    const tab = await site().open("/", { ...desktop, origin: wire.url });
    tab.allow(/ERR_CONNECTION|ERR_EMPTY_RESPONSE|ERR_SOCKET|Connection closed before/);
    await tab.begin("work out 5 + 6");
    await tab.ended(1);
    wire.cut();
    await tab.page.getByText("Reconnecting.").waitFor();
    await tab.send("work out 7 + 8");
    await tab.questions.last().getByText(isUnsent).waitFor();
    wire.mend();
    await tab.ended(2);
    expect(await tab.page.getByText(isUnsent).count()).toBe(0);
    expect(await tab.answers.last().innerText()).toContain("15");
  });

  it("keeps a draft for each conversation, also through a reload", async () => {
    const tab = await site().open();
    const first = await tab.begin("work out 1 + 2");
    await tab.ended(1);
    await tab.composer.fill("a draft for the first");
    await tab.list.getByRole("link", { name: "New conversation" }).click();
    await tab.page.getByRole("heading", { name: "What shall we talk about?" }).waitFor();
    expect(await tab.composer.inputValue()).toBe("");
    await tab.composer.fill("a draft for a new one");
    await tab.page.goto(`${site().url}/c/${first}`);
    await expect.poll(() => tab.composer.inputValue(), patience).toBe("a draft for the first");
    await tab.page.reload();
    await expect.poll(() => tab.composer.inputValue(), patience).toBe("a draft for the first");
    await tab.list.getByRole("link", { name: "New conversation" }).click();
    await expect.poll(() => tab.composer.inputValue(), patience).toBe("a draft for a new one");
  });

  it("follows the end while it grows, lets go as soon as one scrolls up, and jumps back", async () => {
    const tab = await site().open("/", { ...desktop, viewport: { width: 1280, height: 500 } });
    await tab.begin("Give me a long answer");
    await tab.log.getByText(later).waitFor();
    expect(await tab.distanceFromEnd()).toBeLessThan(64);
    await tab.log.hover();
    await tab.page.mouse.wheel(0, -120);
    const jump = tab.button("Jump to latest");
    await jump.waitFor();
    const top = () => tab.log.evaluate((box) => box.scrollTop);
    const height = () => tab.log.evaluate((box) => box.scrollHeight);
    const [heldAt, heightThen] = [await top(), await height()];
    await expect.poll(height, patience).toBeGreaterThan(heightThen);
    expect(Math.abs((await top()) - heldAt)).toBeLessThan(2);
    await jump.click();
    await jump.waitFor({ state: "detached" });
    await expect.poll(() => tab.distanceFromEnd(), patience).toBeLessThan(64);
    await tab.stopButton.click();
    await tab.ended(1);
  });
});

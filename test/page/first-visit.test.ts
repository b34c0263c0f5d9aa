import { expect, it } from "vitest";
import { answered, asked, exportOf } from "./prepared-conversation.js";
import { describePage } from "./site.js";
import { patience, type Tab } from "./tab.js";

const entryOf = (tab: Tab, title: string) => tab.list.getByRole("link", { name: title });

// No configuration: the view of a user who has just typed `npm start`.
describePage("the page on a first visit", {}, (site) => {
  it("says what answers here, how to add a key and what to try", async () => {
    const tab = await site().open();
    await tab.page.getByRole("heading", { name: "What shall we talk about?" }).waitFor();
    const main = tab.page.getByRole("main");
    await main.getByText("demo model", { exact: true }).waitFor();
    const words = await main.innerText();
    expect(words).toContain("need no key");
    expect(words).toContain("parley.config.mjs");
    await main.getByRole("link", { name: "connect a provider" }).waitFor();
    expect(await main.getByRole("list", { name: "Examples" }).getByRole("button").count()).toBe(6);
    await tab.list.getByText("What you talk about will be listed here.").waitFor();
    expect(await tab.focused()).toBe("Message");
    expect(await tab.page.title()).toBe("Parley");
  });

  it("moves nothing when it has learned what answers", async () => {
    const tab = await site().open("about:blank");
    const held = await tab.hold("**/models");
    await tab.page.goto(site().url);
    const heading = tab.page.getByRole("heading", { name: "What shall we talk about?" });
    const [before, composer] = [await heading.boundingBox(), await tab.composer.boundingBox()];
    await expect.poll(held.asked, patience).toBeGreaterThan(0);
    held.release();
    await tab.page.getByRole("list", { name: "Examples" }).waitFor();
    expect(before).not.toBeNull();
    expect(await heading.boundingBox()).toEqual(before);
    expect(await tab.composer.boundingBox()).toEqual(composer);
  });

  it("shows the message at once, before the code that shows a conversation is loaded", async () => {
    const tab = await site().open("about:blank");
    tab.allowMissing();
    const held = await tab.hold(/\/assets\/(conversation-view|markdown)-[^/]*\.js$/);
    await tab.page.goto(site().url);
    await tab.composer.waitFor();
    // Both are fetched before the first message.
    await expect.poll(held.asked, patience).toBe(2);
    await tab.begin("hello there");
    await tab.page.getByRole("main").getByText("hello there", { exact: true }).waitFor();
    expect(await tab.log.count()).toBe(0);
    held.release();
    await tab.questions.getByText("hello there", { exact: true }).waitFor();
    await tab.ended(1);
    expect(held.asked()).toBe(2);
  });

  it("asks for nothing about a conversation that it has just made, however soon Enter comes", async () => {
    for (const pause of [true, false]) {
      const tab = await site().open();
      await tab.composer.waitFor();
      // With a pause, everything that a page asks for at its start is there.
      if (pause) await tab.page.waitForLoadState("networkidle");
      const asked: string[] = [];
      tab.page.on("request", (request) => {
        const { pathname, search } = new URL(request.url());
        if (["fetch", "xhr"].includes(request.resourceType()))
          asked.push(`${request.method()} ${pathname}${search}`);
      });
      const id = await tab.begin("hello there");
      await tab.ended(1);
      await entryOf(tab, "hello there").first().waitFor();
      await tab.page.waitForLoadState("networkidle");
      expect(asked.filter((request) => request.includes(id))).toEqual([]);
      if (pause) expect(asked).toEqual([]);
      // The received state is the whole one: as a page has it that loads the conversation.
      const received = await tab.log.innerText();
      await tab.page.reload();
      await tab.ended(1);
      await expect.poll(() => tab.log.innerText(), patience).toBe(received);
    }
  });

  it("begins with an example, and shows its tool and the result", async () => {
    const tab = await site().open();
    tab.allowMissing();
    await tab.page.getByRole("button", { name: /What time is it in Tokyo\?/ }).click();
    await tab.page.waitForURL(/\/c\//);
    await tab.questions.getByText("What time is it in Tokyo?").waitFor();
    await tab.ended(1);
    expect(await tab.questions.count()).toBe(1);
    const card = tab.log.getByRole("group", { name: "Tool call" }).getByRole("button");
    expect(await card.innerText()).toContain("current_time");
    expect(await card.innerText()).toContain("Done");
    expect(await tab.answers.last().innerText()).toContain("The tool has answered");
    await expect
      .poll(() => tab.list.getByRole("link").allInnerTexts(), patience)
      .toContainEqual(expect.stringContaining("What time is it in Tokyo?"));
    expect(await tab.page.title()).toBe("What time is it in Tokyo? · Parley");
  });

  it("groups the tools of one step, each with its input and result", async () => {
    const tab = await site().open();
    await tab.begin("Use many tools at once");
    await tab.ended(1);
    const group = tab.log.getByRole("group", { name: "6 tool calls of one step" });
    const cards = group.getByRole("button");
    expect(await cards.count()).toBe(6);
    for (const words of await cards.allInnerTexts()) expect(words).toMatch(/Done/);
    const calculator = cards.filter({ hasText: "calculator" }).last();
    expect(await group.getByText("Result", { exact: true }).count()).toBe(0);
    await calculator.click();
    expect(await calculator.getAttribute("aria-expanded")).toBe("true");
    await group.getByText("Input", { exact: true }).waitFor();
    await group.getByText('"value":42').waitFor();
    expect(await group.innerText()).toContain('"expression": "(7 * 6)"');

    const thought = tab.log.getByRole("button", { name: /^Thought/ }).first();
    expect(await thought.getAttribute("aria-expanded")).toBe("false");
    await thought.click();
    await tab.log.getByText("Several tools side by side: one step, many results.").waitFor();
    // One step that called, one that answered.
    expect(await tab.answers.count()).toBe(2);
  });

  it("shows what a tool prints while it works", async () => {
    const tab = await site().open();
    await tab.begin("Start the slow tool");
    const card = tab.log.getByRole("group", { name: "Tool call" });
    await card.getByText("Output so far").waitFor();
    expect(await card.innerText()).toMatch(/Running.*step 1 of 5 done/s);
    await tab.list.getByText("Working").first().waitFor({ state: "attached" });
    await tab.stopButton.click();
    await tab.ended(1);
    await tab.list.getByText("Working").waitFor({ state: "detached" });
    expect(await card.innerText()).toMatch(/Stopped/);
  });

  it("shows a failed turn with its cause, keeps its output, and retries as a branch", async () => {
    const tab = await site().open();
    const first = await tab.begin("Show me an error");
    const card = tab.log.getByRole("group", { name: "Error" });
    await card.waitFor();
    expect(await card.innerText()).toContain("May succeed later");
    await card.getByText("What was said exactly").click();
    await card.getByText("provider_overloaded: Demo: you asked for this error.").waitFor();
    expect(await tab.answers.last().innerText()).toContain("Here it comes");
    await card.getByRole("button", { name: "Retry" }).click();
    await tab.page.waitForURL((url) => !url.pathname.endsWith(first));
    await tab.log.getByRole("group", { name: "Branches" }).getByText("2/2").waitFor();
    await tab.ended(1);
  });

  it("offers no retry where that will not succeed unchanged, and says what to change", async () => {
    const failed = answered({ type: "error", code: "context_overflow", message: "too many tokens" });
    await site().import(exportOf({ id: "overflow", title: "Too much" }, [[asked("all of it"), failed]]));
    const tab = await site().open("/c/overflow");
    const card = tab.log.getByRole("group", { name: "Error" });
    await card.getByText("Will not succeed unchanged").waitFor();
    await card.getByText("or shorten the message").waitFor();
    expect(await card.getByRole("button", { name: "Retry" }).count()).toBe(0);
    // A user who has changed the model can still ask again.
    await tab.button("Regenerate answer").waitFor();
  });

  it("reports a conversation that is not there", async () => {
    const tab = await site().open("/c/no-such-conversation");
    tab.allowMissing();
    await tab.page.getByText("There is no such conversation").waitFor();
    await tab.button("Start a new one").click();
    await tab.page.getByRole("heading", { name: "What shall we talk about?" }).waitFor();
  });
});

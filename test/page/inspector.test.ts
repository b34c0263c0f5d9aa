import { readFile } from "node:fs/promises";
import type { ConversationDetail, MetricsResponse, TurnDetail } from "@parley/wire";
import { describe, expect, it } from "vitest";
import { answered, asked, exportOf, returned, said } from "./prepared-conversation.js";
import { describePage, type Site } from "./site.js";
import { patience, type Tab } from "./tab.js";

const quick = { models: { demo: { kind: "demo", pace: "instant", slowStepMs: 0 } } };

const inspectorOf = (tab: Tab) => tab.page.getByRole("complementary", { name: "Inspector" });
const count = new Intl.NumberFormat("en-US");

async function prepare(site: Site, id: string): Promise<void> {
  const turns = Array.from({ length: 12 }, (_, n) => [
    asked(`What is the ${n + 1}th thing to know about tea?`),
    said(`Thing ${n + 1}: ${"leaves, water, time and patience. ".repeat(6)}`),
  ]);
  await site.import(exportOf({ id, title: `About tea (${id})` }, turns));
}

describePage("the page", quick, (site) => {
  describe("its inspector", () => {
    it("draws a turn by step, and its figures are those of the log", async () => {
      const tab = await site().open();
      const id = await tab.begin("Use many tools at once");
      await tab.ended(1);
      await tab.button("Open the inspector").click();
      const inspector = inspectorOf(tab);
      await inspector.getByText("Done", { exact: true }).waitFor();
      await inspector
        .getByRole("figure")
        .getByText(/^Timeline of turn 1: 2 steps and 6 tool calls in /)
        .waitFor({ state: "attached" });
      // A bar for each tool, and at least one for each step.
      expect(await inspector.locator("figure svg rect title").count()).toBeGreaterThanOrEqual(8);

      const { turns } = await site().ask<MetricsResponse>("GET", `/conversations/${id}/metrics`);
      const turn = turns[0];
      if (turn === undefined) throw new Error("the turn has no metrics");
      const { inputTokens, outputTokens } = turn.usage;
      await inspector
        .getByText(`${count.format(inputTokens)} read, ${count.format(outputTokens)} written`)
        .waitFor();
      await inspector.getByRole("button", { name: "Table" }).click();
      const rows = inspector.getByRole("region", { name: /^Timeline of turn 1/ }).getByRole("row");
      const figures = await rows.allInnerTexts();
      expect(figures).toHaveLength(1 + 2 + 6);
      for (const [place, step] of turn.steps.entries()) {
        const row = figures.find((words) => words.startsWith(`Step ${place + 1}`));
        expect(row).toContain(count.format(step.usage.inputTokens));
        expect(row).toContain(count.format(step.usage.outputTokens));
        expect(row).toContain("not reported"); // the demo model has no cache, and no zero is made up for it
      }
    });

    it("lists what each call sent, and how it differs from the call before", async () => {
      const tab = await site().open();
      const id = await tab.begin("What time is it in Cairo?");
      await tab.ended(1);
      await tab.button("Inspect this turn").click();
      const inspector = inspectorOf(tab);
      const second = inspector
        .getByRole("listitem")
        .filter({ has: tab.page.getByRole("button", { name: /^Step 2/ }) });
      await second.getByRole("button", { name: /^Step 2/ }).click();
      await second.getByText("Sent, in order").waitFor();
      await second.getByText("Difference to the call before").waitFor();
      const { turns } = await site().ask<MetricsResponse>("GET", `/conversations/${id}/metrics`);
      const detail = await site().ask<TurnDetail>("GET", `/conversations/${id}/turns/${turns[0]?.turnId}`);
      const manifests = detail.providerCalls.map(({ manifest }) => manifest);
      expect(manifests).toHaveLength(2);
      const sent = manifests[1]?.segments.find(({ kind }) => kind === "messages");
      const { firstSeq: first = 0, lastSeq: last = 0 } = sent ?? {};
      expect(first).toBe(1);
      const words = await second.innerText();
      expect(words).toMatch(/Came in\s+seq \d/);
      expect(words).toContain(
        `About ${count.format(manifests[1]?.estimatedTokens ?? -1)} tokens by estimate, of a window of 16,000.`,
      );
      // The messages that it was sent can be read in place.
      await second
        .getByRole("button", { name: first === last ? `Read seq ${first}` : `Read seq ${first} to ${last}` })
        .first()
        .click();
      const log = tab.page.getByRole("dialog").getByRole("list", { name: "Log" });
      await log.getByText("What time is it in Cairo?").waitFor();
      expect(await log.getByRole("listitem").count()).toBe(last - first + 1);
      await tab.page.keyboard.press("Escape");
      await tab.page.getByRole("dialog").waitFor({ state: "detached" });
    });

    it("shows how full the window is, of what, and when compaction comes; before the first answer that is unknown", async () => {
      await site().ask("POST", "/conversations", { id: "unasked", title: "Nothing asked yet" });
      const tab = await site().open("/c/unasked");
      await tab.button("Open the inspector").click();
      const inspector = inspectorOf(tab);
      await inspector.getByRole("tab", { name: "Context" }).click();
      await inspector.getByText("unknown of").waitFor();
      await inspector.getByText("How much is used is known after the first answer.").waitFor();

      await tab.send("hello there");
      await tab.ended(1);
      const { contextSize, contextWindow } = await site().ask<ConversationDetail>(
        "GET",
        "/conversations/unasked/meta",
      );
      expect(contextWindow).toBe(16_000);
      const meter = inspector.getByRole("meter", { name: "Context used" });
      await expect
        .poll(() => meter.getAttribute("aria-valuetext"), patience)
        .toBe(`${count.format(contextSize ?? -1)} of 16,000 tokens`);
      await inspector.getByText("It is compacted by itself at 12,800 tokens").waitFor();
      const parts = inspector.getByRole("list", { name: "What the context is made of" });
      for (const name of ["Tools", "Messages", "Last answer"]) await parts.getByText(name).waitFor();
    });

    it("draws trends from the second turn on, and leads from there to a turn", async () => {
      const tab = await site().open();
      await tab.begin("work out 1 + 1");
      await tab.ended(1);
      await tab.send("work out 2 + 2");
      await tab.ended(2);
      await tab.page.keyboard.press("Control+i");
      const inspector = inspectorOf(tab);
      await inspector.getByRole("tab", { name: "Trends" }).click();
      await inspector.getByText("2 turns").waitFor();
      await inspector.getByRole("button", { name: "Table" }).click();
      await inspector.getByRole("button", { name: "Turn 1" }).click();
      expect(
        await inspector.getByRole("combobox", { name: "Turn" }).locator("option:checked").innerText(),
      ).toBe("Turn 1: work out 1 + 1");
    });

    it("reads the newest turns first, and earlier ones when they are requested", async () => {
      const turns = Array.from({ length: 130 }, (_, n) => [
        asked(`Question ${n + 1}`),
        said(`Answer ${n + 1}`),
      ]);
      await site().import(exportOf({ id: "many-turns", title: "Many turns" }, turns));
      const tab = await site().open("/c/many-turns");
      await tab.log.getByText("Answer 130", { exact: true }).waitFor();
      await tab.page.keyboard.press("Control+i");
      const inspector = inspectorOf(tab);
      const picker = inspector.getByRole("combobox", { name: "Turn" });
      const picked = () => picker.locator("option:checked").innerText();
      await expect.poll(picked, patience).toBe("Newest turn: Question 130");
      await inspector.getByRole("tab", { name: "Trends" }).click();
      await inspector.getByText("The newest 100 turns").waitFor();
      await inspector.getByRole("button", { name: "Earlier turns" }).click();
      await inspector.getByText("130 turns", { exact: true }).waitFor();
      expect(await inspector.getByRole("button", { name: "Earlier turns" }).count()).toBe(0);
      await inspector.getByRole("button", { name: "Table" }).click();
      await inspector.getByRole("button", { name: "Turn 7", exact: true }).click();
      // Only loaded messages have a title.
      await expect.poll(picked, patience).toBe("Turn 7");
      // A turn that is added comes after the others.
      await tab.send("hello there");
      await expect.poll(() => picker.locator("option").count(), patience).toBe(131);
      expect(await picked()).toBe("Turn 7");
    });

    it("exports the conversation as Markdown and as lines that can be imported again", async () => {
      await prepare(site(), "exported");
      const tab = await site().open("/c/exported");
      await tab.button("Conversation menu").click();
      await tab.page.getByRole("menuitem", { name: "Export" }).click();
      const save = async (name: string) => {
        const [download] = await Promise.all([
          tab.page.waitForEvent("download"),
          inspectorOf(tab).getByRole("button", { name }).click(),
        ]);
        return { name: download.suggestedFilename(), text: await readFile(await download.path(), "utf8") };
      };
      const markdown = await save("Markdown");
      expect(markdown.name).toMatch(/\.md$/);
      expect(markdown.text).toContain("Thing 12: leaves");
      const lines = await save("JSONL");
      expect(lines.name).toMatch(/\.jsonl$/);
      expect(lines.text.trim().split("\n")).toHaveLength(1 + 24 + 12);
    });
  });

  describe("its compaction", () => {
    it("is previewed, done, read and undone", async () => {
      await prepare(site(), "compacted");
      const tab = await site().open("/c/compacted");
      await tab.button("Conversation menu").click();
      await tab.page.getByRole("menuitem", { name: "Compact" }).click();
      const dialog = tab.dialog("Compact");
      await dialog
        .getByText(/^A summary will stand in for 14 messages, about [\d,]+ tokens\. The newest 10 messages/)
        .waitFor();
      await dialog.getByRole("textbox", { name: "Messages to keep" }).fill("4");
      await dialog.getByText(/^A summary will stand in for 20 messages/).waitFor();
      await dialog.getByRole("button", { name: "Compact", exact: true }).click();
      const done = tab.dialog("Compacted");
      await done
        .getByText("A summary stands in for 20 messages. The newest 4 messages stay as they are.")
        .waitFor();
      await done.getByText("What is the 1th thing to know about tea?").waitFor();
      await done.getByRole("button", { name: "Done" }).click();

      const summary = tab.log.getByRole("region", { name: "Compaction" });
      await summary.getByText("Earlier messages were summarised for the model").waitFor();
      await summary.getByRole("button", { name: "Show the summary" }).click();
      await summary.getByText("user: What is the 1th thing to know about tea?").waitFor();
      await summary.getByRole("button", { name: "Read what it covers" }).click();
      const covered = tab.dialog("Messages behind the summary");
      await covered.getByText("Seq 1 to 20.").waitFor();
      const entries = covered.getByRole("list", { name: "Log" }).getByRole("listitem");
      await expect.poll(() => entries.count(), patience).toBe(20);
      await tab.page.keyboard.press("Escape");
      // History stays whole.
      await tab.log.getByText("Thing 12: leaves").waitFor();

      // Only the model reads the summary instead.
      await tab.send("and then?");
      await tab.log.getByText("I was shown 5 messages of this conversation").waitFor();

      await tab.page.keyboard.press("Control+i");
      const inspector = inspectorOf(tab);
      await inspector.getByText("Left out").first().waitFor();
      await inspector.getByText(/The summary at seq 25 stands in for them/).waitFor();
      await inspector.getByRole("tab", { name: "Context" }).click();
      const inHeader = tab.page.getByRole("button", { name: /of the context (is )?used/ });
      const isKnown = async () => {
        await expect.poll(() => inHeader.innerText(), patience).toMatch(/^\d+%$/);
        await inspector.getByRole("list", { name: "What the context is made of" }).waitFor();
      };
      const isUnknown = async () => {
        await inspector.getByText("unknown of").waitFor();
        await inspector.getByText("Its size is known after the next answer.").waitFor();
        await expect.poll(() => inHeader.innerText(), patience).toBe("\u2013");
        expect(await inspector.getByRole("list", { name: "What the context is made of" }).count()).toBe(0);
      };
      await isKnown();
      await inspector.getByRole("button", { name: "Undo the last one" }).click();
      await tab.page.getByText("Undone. The model reads those messages again.").waitFor();
      await inspector.getByRole("button", { name: "Undo the last one" }).waitFor({ state: "detached" });
      await isUnknown();
      // A client that joins later sees the same.
      const later = await site().open("/c/compacted");
      await later.questions.getByText("and then?").waitFor();
      await expect
        .poll(
          () => later.page.getByRole("button", { name: /of the context (is )?used/ }).innerText(),
          patience,
        )
        .toBe("\u2013");
      await tab.send("and now?");
      await tab.log.getByText(/I was shown 2\d messages of this conversation\./).waitFor();
      await isKnown();

      // A compaction that another client requested is received here.
      await site().ask("POST", "/conversations/compacted/compact", { keepLastN: 4 });
      await isUnknown();
      await tab.page.reload();
      await tab.questions.getByText("and now?").waitFor();
      await expect.poll(() => inHeader.innerText(), patience).toBe("\u2013");
    });

    it("is shown as undone in the fork that made it", async () => {
      await prepare(site(), "fork-origin");
      await site().ask("POST", "/conversations/fork-origin/compact", { keepLastN: 20 });
      await site().ask("POST", "/conversations/fork-origin/fork", { atSeq: 25, id: "compacted-fork" });
      await site().ask("POST", "/conversations/compacted-fork/compact", { keepLastN: 4 });
      const tab = await site().open("/c/compacted-fork");
      const summaries = tab.log.getByRole("region", { name: "Compaction" });
      const inForce = summaries.getByText("Earlier messages were summarised for the model");
      const undone = summaries.getByText("A summary for the model, undone since");
      await expect.poll(() => inForce.count(), patience).toBe(2);
      for (const _ of ["its own", "the one that it came with"])
        await site().ask("POST", "/conversations/compacted-fork/compact/undo");
      await summaries.last().getByText("A summary for the model, undone since").waitFor();
      // Of the other, which was made before the fork, the page knows too little.
      expect([await inForce.count(), await undone.count()]).toEqual([1, 1]);
    });

    it("says why more messages stay than were to be kept", async () => {
      const tool = (n: number) => ({ toolCallId: `call-${n}`, toolName: "now" });
      const turns = [0, 1, 2, 3].map((n) => [
        asked(`What time is it? (${n})`),
        answered({ type: "tool-call", ...tool(n), input: {}, argumentsText: "{}" }),
        returned({ type: "tool-result", ...tool(n), content: "noon", isError: false }),
        said(`It is noon. (${n})`),
      ]);
      await site().import(exportOf({ id: "with-calls", title: "Calls" }, turns));
      const tab = await site().open("/c/with-calls");
      await tab.button("Conversation menu").click();
      await tab.page.getByRole("menuitem", { name: "Compact" }).click();
      const dialog = tab.dialog("Compact");
      await dialog
        .getByText(
          /The newest 11 messages stay as they are, more than 10, since the calls of tools and their results are never/,
        )
        .waitFor();
      await dialog.getByRole("textbox", { name: "Messages to keep" }).fill("8");
      await dialog.getByText(/The newest 8 messages stay as they are\./).waitFor();
    });

    it("says why there is nothing to do", async () => {
      const tab = await site().open();
      await tab.begin("hello there");
      await tab.ended(1);
      await tab.page.keyboard.press("Control+k");
      const palette = tab.dialog("Commands");
      await palette.getByRole("combobox").fill("compact");
      // The command, not the conversation whose title begins like it.
      await palette.getByRole("option", { name: "Compact", exact: true, selected: true }).waitFor();
      tab.allow(/status of 409 .*\/compact\/preview/);
      await tab.page.keyboard.press("Enter");
      const dialog = tab.dialog("Compact");
      await dialog.getByText("There is nothing to compact.").waitFor();
      expect(await dialog.getByRole("button", { name: "Compact", exact: true }).isDisabled()).toBe(true);
    });
  });
});

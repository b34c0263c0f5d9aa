import type { HistoryResponse } from "@parley/wire";
import { expect, it, onTestFinished } from "vitest";
import { CutWire } from "./cut-wire.js";
import { describePage, type Site } from "./site.js";
import { desktop, patience, Tab } from "./tab.js";

/** A low limit for the server, and a text above it. */
const strict = { limits: { messageBytes: 10_000 } };
const huge = `Read this: ${"many words ".repeat(1_000)}`;
const heading = "What shall we talk about?";

/** Opens a tab that reaches the server by a wire that can be cut. */
async function openByWire(site: Site): Promise<{ readonly tab: Tab; readonly wire: CutWire }> {
  const wire = await CutWire.to(site.server.port);
  onTestFinished(() => wire.end());
  const tab = await site.open("/", { ...desktop, origin: wire.url });
  tab.allow(/ERR_CONNECTION|ERR_EMPTY_RESPONSE|ERR_SOCKET|Connection closed before/);
  return { tab, wire };
}

/** Returns the unsent messages that this browser keeps. */
const kept = async (
  tab: Tab,
): Promise<readonly { readonly messageId: string; readonly message: string }[]> => {
  const stored = await tab.page.evaluate(() => JSON.parse(localStorage.getItem("parley.unsent") ?? "[]"));
  return stored.map(({ message }: { message: unknown }) => message);
};

/** Returns the messages that are shown as not sent. */
const notSent = (tab: Tab) => tab.questions.filter({ hasText: "Not sent. The page was closed" });

describePage("the page and words that did not get through", strict, (site) => {
  it("returns a first message that is refused permanently, to be edited where a conversation begins", async () => {
    const tab = await site().open();
    tab.allowMissing();
    await tab.begin(huge);
    const refusal = tab.log.getByRole("alert");
    await refusal.getByText("Not sent. That is too large. Send less at once.").waitFor();
    expect(await refusal.getByRole("button", { name: "Retry" }).count()).toBe(0);
    await refusal.getByRole("button", { name: "Edit" }).click();
    await tab.page.getByRole("heading", { name: heading }).waitFor();
    expect(new URL(tab.page.url()).pathname).toBe("/");
    expect(await tab.composer.inputValue()).toBe(huge);

    await tab.begin("work out 1 + 2");
    await tab.ended(1);
    expect(await tab.answers.last().innerText()).toContain("3");
  });

  it("forgets a first message that is refused when it is discarded, and goes where a conversation begins", async () => {
    const tab = await site().open();
    tab.allowMissing();
    await tab.begin(huge);
    await tab.log.getByRole("alert").getByRole("button", { name: "Discard" }).click();
    await tab.page.getByRole("heading", { name: heading }).waitFor();
    expect(await tab.composer.inputValue()).toBe("");
  });

  it("gives a later message that is refused back in front of what was typed since", async () => {
    const tab = await site().open();
    const id = await tab.begin("work out 1 + 2");
    await tab.ended(1);
    await tab.send(huge);
    const edit = tab.log.getByRole("alert").getByRole("button", { name: "Edit" });
    await edit.waitFor();
    await tab.composer.fill("typed since");
    await edit.click();
    await expect.poll(() => tab.composer.inputValue(), patience).toBe(`${huge}\ntyped since`);
    expect(tab.conversationId).toBe(id);
    await expect.poll(() => tab.questions.count(), patience).toBe(1);
    expect(await tab.focused()).toBe("Message");
  });

  it("shows what was unsent when the page was closed, to be sent or edited, unless the server has it", async () => {
    const { tab, wire } = await openByWire(site());
    const id = await tab.begin("Give me a long answer");
    await tab.log.getByText("You asked for something long").waitFor();
    await expect.poll(() => kept(tab), patience).toEqual([]);
    wire.cut();
    for (const text of ["work out 1 + 1", "work out 2 + 2", "never mind"]) await tab.send(text);
    await tab.send("be brief", "Control+Enter");
    await tab.button("Remove unsent message").nth(2).click();
    await expect.poll(() => tab.button("Remove unsent message").count(), patience).toBe(3);
    const [first, second] = await kept(tab);
    await tab.page.goto("about:blank");
    await site().ask("POST", `/conversations/${id}/stop`);
    // The first one arrived, and its receipt was lost.
    const { messageId, message: text } = first ?? {};
    await site().ask("POST", `/conversations/${id}/queue`, { messageId, text, mode: "queue" });
    wire.mend();
    await tab.page.goto(`${wire.url}/c/${id}`);
    await expect.poll(() => notSent(tab).count(), patience).toBe(2);
    expect(await tab.composer.inputValue()).toBe("");
    await tab.page.reload();
    await expect.poll(() => notSent(tab).count(), patience).toBe(2);
    expect((await kept(tab)).map(({ message }) => message)).toEqual(["work out 2 + 2", "be brief"]);

    await notSent(tab).last().getByRole("button", { name: "Edit" }).click();
    await expect.poll(() => tab.composer.inputValue(), patience).toBe("be brief");
    await expect.poll(() => notSent(tab).count(), patience).toBe(1);
    await notSent(tab).getByRole("button", { name: "Retry" }).click();
    await expect.poll(() => notSent(tab).count(), patience).toBe(0);
    await expect.poll(() => kept(tab), patience).toEqual([]);
    const isThere = async () => {
      const { chunks } = await site().ask<HistoryResponse>("GET", `/conversations/${id}`);
      return chunks.filter((chunk) => chunk.messageId === second?.messageId).length;
    };
    await expect.poll(isThere, patience).toBe(1);
  });

  it("shows the first message of a conversation when it was unsent, and sends it on demand", async () => {
    const { tab, wire } = await openByWire(site());
    tab.allowMissing();
    // The parts that show a conversation are loaded before the connection goes down.
    await tab.page.waitForLoadState("networkidle");
    wire.cut();
    await tab.button("Try now").waitFor();
    const id = await tab.begin("work out 3 + 3");
    await tab.questions.getByText("Unsent: waits for the connection").waitFor();
    await tab.page.goto("about:blank");
    wire.mend();
    await tab.page.goto(`${wire.url}/c/${id}`);
    await notSent(tab).getByText("work out 3 + 3").waitFor();
    await notSent(tab).getByRole("button", { name: "Retry" }).click();
    await tab.ended(1);
    expect(tab.conversationId).toBe(id);
    expect(await tab.answers.last().innerText()).toContain("6");
    expect(await kept(tab)).toEqual([]);
  });

  it("lets a message that waits for the connection be removed, to be edited or permanently", async () => {
    const { tab, wire } = await openByWire(site());
    await tab.begin("work out 1 + 2");
    await tab.ended(1);
    wire.cut();
    await tab.button("Try now").waitFor();
    await tab.send("work out 4 + 4");
    const unsent = tab.questions.filter({ hasText: "Unsent: waits for the connection" });
    await unsent.getByRole("button", { name: "Edit" }).click();
    await unsent.waitFor({ state: "detached" });
    expect(await tab.composer.inputValue()).toBe("work out 4 + 4");
    expect(await tab.focused()).toBe("Message");
    await tab.send("never mind");
    await unsent.getByRole("button", { name: "Discard" }).click();
    await unsent.waitFor({ state: "detached" });
    await tab.send("work out 5 + 5");
    wire.mend();
    await tab.button("Try now").click();
    await tab.ended(2);
    expect(await tab.answers.last().innerText()).toContain("10");
    expect(await tab.questions.allInnerTexts()).toHaveLength(2);
    expect(await kept(tab)).toEqual([]);
  });

  it("leaves unsent words to the tab that sends them, and gives them to another one when that is closed", async () => {
    const tab = await site().open("about:blank");
    let isLost = false;
    await tab.page.routeWebSocket(/./, (socket) => {
      const server = socket.connectToServer();
      socket.onMessage((message) => {
        if (!isLost) server.send(message);
      });
    });
    await tab.page.goto(site().url);
    const id = await tab.begin("work out 1 + 2");
    await tab.ended(1);
    isLost = true;
    await tab.send("work out 6 + 6");
    await expect.poll(() => kept(tab), patience).toMatchObject([{ message: "work out 6 + 6" }]);

    const other = await Tab.open(tab.context, site().url);
    await other.page.goto(`${site().url}/c/${id}`);
    await other.ended(1);
    expect(await notSent(other).count()).toBe(0);
    expect(await kept(other)).toHaveLength(1);
    await tab.page.close();
    await notSent(other).getByText("work out 6 + 6").waitFor();
    expect(await kept(other)).toHaveLength(1);
    await notSent(other).getByRole("button", { name: "Discard" }).click();
    await expect.poll(() => notSent(other).count(), patience).toBe(0);
    expect(await kept(other)).toEqual([]);
    expect(other.problems()).toEqual([]);
  });
});

import type { HistoryResponse } from "@parley/wire";
import { expect, it } from "vitest";
import { describePage } from "./site.js";

const banner = "Reconnecting. Turns continue on the server, and nothing is lost.";

// The demo model at the pace of a reader, with a slow tool that is no slower than it takes to act meanwhile.
const paced = { models: { demo: { kind: "demo", slowStepMs: 600 } } };

describePage("the page when the server is killed and started again", paced, (site) => {
  it("finds back by itself, and shows an answer that was cut as interrupted, with what was kept", async () => {
    const tab = await site().open();
    tab.allow(/ERR_CONNECTION|ERR_EMPTY_RESPONSE/);
    const id = await tab.begin("Give me a long answer");
    // The last visible words are not durable yet; those before them are.
    await tab.log
      .getByText("You asked for something long, so here is what happens while you read it")
      .waitFor();
    await site().kill();
    await tab.page.getByText(banner).waitFor();
    await site().restart();
    await tab.log.getByText("Interrupted: the server failed while the model answered.").waitFor();
    await tab.page.getByText(banner).waitFor({ state: "detached" });
    await tab.ended(1);
    const { chunks } = await site().ask<HistoryResponse>("GET", `/conversations/${id}`);
    const kept = chunks.findLast(({ chunk }) => chunk.type === "text")?.chunk;
    expect(kept?.type === "text" && kept.text).toContain("You asked for something long");
    expect(await tab.answers.last().innerText()).toContain("You asked for something long");
    expect(await tab.questions.count()).toBe(1);

    // The cut answer offers to continue, once.
    await tab.button("Continue").click();
    await tab.ended(2);
    expect(await tab.questions.last().innerText()).toContain("Continue.");
    expect(await tab.button("Continue").count()).toBe(0);

    // The same tab continues.
    await tab.send("work out 20 + 3");
    await tab.ended(3);
    expect(await tab.answers.last().innerText()).toContain("23");
  });

  it("shows how a turn continues whose tool can be started again", async () => {
    const tab = await site().open();
    tab.allow(/ERR_CONNECTION|ERR_EMPTY_RESPONSE/);
    await tab.begin("Start the slow tool");
    await tab.log.getByText("step 1 of 5 done").first().waitFor();
    await site().kill();
    await tab.page.getByText(banner).waitFor();
    await site().restart();
    await tab.log.getByText("finished 5 steps").first().waitFor();
    await tab.ended(1);
    expect(await tab.log.getByRole("group", { name: "Tool call" }).count()).toBe(1);
    expect(await tab.answers.last().innerText()).toContain("The tool has answered");
  });
});

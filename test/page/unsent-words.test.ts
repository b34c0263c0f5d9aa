import { expect, it } from "vitest";
import { describePage } from "./stage.js";
import { patience } from "./tab.js";

/** A server that takes little at once, and more than it takes. */
const strict = { limits: { messageBytes: 10_000 } };
const huge = `Read this: ${"many words ".repeat(1_000)}`;
const heading = "What shall we talk about?";

describePage("the page and words that did not get through", strict, (stage) => {
  it("gives a first message that is refused for good back, to be edited where a conversation begins", async () => {
    const tab = await stage().open();
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
    const tab = await stage().open();
    tab.allowMissing();
    await tab.begin(huge);
    await tab.log.getByRole("alert").getByRole("button", { name: "Discard" }).click();
    await tab.page.getByRole("heading", { name: heading }).waitFor();
    expect(await tab.composer.inputValue()).toBe("");
  });

  it("gives a later message that is refused back in front of what was typed since", async () => {
    const tab = await stage().open();
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
});

import { afterAll, expect, it } from "vitest";
import { describePage } from "./site.js";
import { patience, type Tab } from "./tab.js";
import { type Piece, Upstream } from "./upstream.js";

let upstream: Upstream | undefined;
afterAll(() => upstream?.end());

async function config(): Promise<object> {
  upstream = await Upstream.start(function* (question): Iterable<Piece> {
    yield { text: `You said: ${question}` };
  });
  return {
    store: { folder: ".parley", durable: false },
    models: { thinker: upstream.thinkingCredential },
    titleModel: "none",
    instructions: "Speak plainly.",
  };
}

/** Returns the effort of the newest request, and its instructions besides the conversation. */
function newestRequest(): { readonly effort: unknown; readonly instructions: string } {
  const request = upstream?.requests.at(-1) ?? {};
  const { effort } = (request.reasoning ?? {}) as { effort?: unknown };
  const input = (request.input ?? []) as readonly { role?: string }[];
  const system = input.filter(({ role }) => role === "developer" || role === "system");
  return { effort, instructions: JSON.stringify([request.instructions, system]) };
}

async function pickEffort(tab: Tab, label: string): Promise<void> {
  await tab.page.getByRole("button", { name: /^Reasoning effort/ }).click();
  await tab.page.getByRole("menuitemradio", { name: label, exact: true }).click();
}

async function instruct(tab: Tab, text: string): Promise<void> {
  await tab.button("Instructions").click();
  const dialog = tab.dialog("Instructions");
  await dialog.getByRole("textbox", { name: "Instructions" }).fill(text);
  await dialog.getByRole("button", { name: "Save" }).click();
  await dialog.waitFor({ state: "detached" });
}

const instructionsSaved = (tab: Tab) =>
  tab.page.waitForResponse(
    (response) => response.request().method() === "PUT" && response.url().endsWith("/instructions"),
  );

describePage("the pickers of the composer", config, (site) => {
  it("decide what the model is sent, for a new conversation and from the next turn on", async () => {
    const tab = await site().open();
    await pickEffort(tab, "Low");
    await instruct(tab, "Answer in rhymes.");
    await tab.page
      .getByRole("button", { name: "Model: thinker/example, the server's default", exact: true })
      .waitFor();
    await tab.begin("first question");
    await tab.ended(1);
    await tab.page
      .getByRole("button", { name: "Model: thinker/example, as in the last turn", exact: true })
      .waitFor();
    expect(newestRequest()).toMatchObject({
      effort: "low",
      instructions: expect.stringContaining("Answer in rhymes."),
    });
    expect(newestRequest().instructions).not.toContain("Speak plainly.");

    await pickEffort(tab, "Extra high");
    await tab.page.getByRole("button", { name: "Reasoning effort: xhigh" }).waitFor();
    const saved = instructionsSaved(tab);
    await instruct(tab, "Answer in prose.");
    await saved;
    await tab.send("second question");
    await tab.ended(2);
    expect(newestRequest()).toMatchObject({
      effort: "xhigh",
      instructions: expect.stringContaining("Answer in prose."),
    });
    expect(newestRequest().instructions).not.toContain("Answer in rhymes.");

    // The choices belonged to that conversation.
    await tab.page.getByRole("link", { name: "New conversation" }).click();
    await expect
      .poll(
        () => tab.page.getByRole("button", { name: "Reasoning effort: high, by default" }).count(),
        patience,
      )
      .toBe(1);
    await tab.begin("third question");
    await tab.log.getByText("You said: third question").waitFor();
    await tab.ended(1);
    expect(newestRequest()).toMatchObject({
      effort: "high",
      instructions: expect.stringContaining("Speak plainly."),
    });
    expect(newestRequest().instructions).not.toContain("Answer in");
  });

  it("take what is typed into the instructions at once, and keep it when the dialog is closed by Esc", async () => {
    const tab = await site().open("about:blank");
    const held = await tab.hold(/\/instructions$/);
    await tab.page.goto(site().url);
    const { keyboard } = tab.page;
    const dialog = tab.dialog("Instructions");
    const field = dialog.getByRole("textbox", { name: "Instructions" });
    const open = async () => {
      await tab.button("Instructions").click();
      await dialog.waitFor();
    };
    const closeByEsc = async () => {
      await keyboard.press("Escape");
      await dialog.waitFor({ state: "detached" });
    };
    await open();
    await expect.poll(() => tab.focused(), patience).toBe("Instructions");
    await keyboard.type("Be brief and kind.");
    await closeByEsc();
    await open();
    await dialog.getByText("not saved yet").waitFor();
    expect(await field.inputValue()).toBe("Be brief and kind.");
    await dialog.getByRole("button", { name: "Cancel" }).click();
    await dialog.waitFor({ state: "detached" });
    await open();
    expect(await field.inputValue()).toBe("");
    await closeByEsc();

    // While they have to be read first, no key press closes the dialog.
    await tab.begin("a question with instructions");
    await tab.ended(1);
    await open();
    await expect.poll(held.asked, patience).toBe(1);
    await keyboard.press("Space");
    expect(await dialog.count()).toBe(1);
    held.release();
    await field.waitFor();
    await expect.poll(() => tab.focused(), patience).toBe("Instructions");
    await keyboard.type("Be brief here.");
    await closeByEsc();
    await open();
    await field.waitFor();
    expect(await field.inputValue()).toBe("Be brief here.");
    const saved = instructionsSaved(tab);
    await dialog.getByRole("button", { name: "Save" }).click();
    await saved;
    await tab.send("a second question");
    await tab.ended(2);
    expect(newestRequest().instructions).toContain("Be brief here.");
  });
});

import { readFile } from "node:fs/promises";
import type { ListConversationsResponse } from "@parley/wire";
import { expect, it } from "vitest";
import { findings } from "./axe.js";
import { describePage } from "./site.js";
import { patience, phone, type Tab } from "./tab.js";

const quick = {
  models: {
    demo: { kind: "demo", pace: "instant", slowStepMs: 0 },
    // No key is needed there.
    other: {
      kind: "compatible",
      baseUrl: "http://127.0.0.1:9/v1",
      models: ["plain", { name: "graded", efforts: ["low", "high"] }],
    },
  },
  mcpServers: { broken: { command: "parley-no-such-command" } },
};

const open = (tab: Tab, section: string) =>
  tab.page.getByRole("navigation", { name: "Settings" }).getByRole("link", { name: section }).click();
const region = (tab: Tab, section: string) => tab.page.getByRole("region", { name: section, exact: true });

describePage("the settings", quick, (site) => {
  it("keep the theme and what new conversations start with", async () => {
    const tab = await site().open("/settings");
    await region(tab, "Appearance").getByText("Dark").click();
    await expect
      .poll(() => tab.page.evaluate(() => document.documentElement.dataset.theme), patience)
      .toBe("dark");
    expect(await findings(tab)).toEqual([]);
    await open(tab, "New conversations");
    const defaults = region(tab, "New conversations");
    await defaults.getByText("Low", { exact: true }).click();
    await defaults.getByRole("textbox", { name: "Instructions" }).fill("Answer in rhymes.");
    await defaults.getByRole("button", { name: "Save" }).click();
    expect(await findings(tab)).toEqual([]);
    await tab.page.reload();
    expect(await defaults.getByRole("textbox", { name: "Instructions" }).inputValue()).toBe(
      "Answer in rhymes.",
    );
    for (const text of ["first of its kind", "second of its kind"]) {
      await tab.list.getByRole("link", { name: "New conversation" }).click();
      await tab.page.getByRole("button", { name: "Reasoning effort: low" }).waitFor();
      const id = await tab.begin(text);
      await tab.ended(1);
      const { instructions } = await site().ask<{ instructions: string }>(
        "GET",
        `/conversations/${id}/instructions`,
      );
      expect(instructions).toBe("Answer in rhymes.");
    }
  });

  it("offer the efforts that make a difference for the model, and no others", async () => {
    const tab = await site().open();
    const effort = tab.page.getByRole("button", { name: /^Reasoning effort/ });
    const choose = async (model: string) => {
      await tab.page.getByRole("button", { name: /^Model:/ }).click();
      await tab.page.getByRole("menuitemradio", { name: model }).click();
    };
    await effort.waitFor();
    await choose("other/plain");
    await effort.waitFor({ state: "detached" });
    await tab.page.keyboard.press("Control+k");
    await tab.page.getByRole("option", { name: "Switch model" }).waitFor();
    expect(await tab.page.getByRole("option", { name: "Set reasoning effort" }).count()).toBe(0);
    await tab.page.keyboard.press("Escape");
    await choose("other/graded");
    await effort.click();
    const offered = tab.page.getByRole("menuitemradio");
    expect(await offered.allInnerTexts()).toEqual(["Default", "Low", "High"]);
    expect(await findings(tab)).toEqual([]);
    await offered.getByText("Low").click();
    await tab.page.getByRole("button", { name: "Reasoning effort: low" }).waitFor();

    await tab.page.keyboard.press("Control+k");
    await tab.page.getByRole("option", { name: "Set reasoning effort" }).click();
    const entries = tab.page.getByRole("dialog").getByRole("option");
    await expect.poll(() => entries.allInnerTexts(), patience).toEqual(["default", "low\nNow", "high"]);
    await tab.page.keyboard.press("Escape");

    await tab.page.goto(`${site().url}/settings/defaults`);
    const defaults = region(tab, "New conversations");
    await defaults.getByRole("combobox", { name: "Model" }).selectOption("other/plain");
    await defaults.getByText("other/plain takes none").waitFor();
    expect(await defaults.getByRole("radio").count()).toBe(0);
    expect(await findings(tab)).toEqual([]);
    await defaults.getByRole("combobox", { name: "Model" }).selectOption("other/graded");
    expect(await defaults.getByRole("radio").count()).toBe(3);
    await defaults.getByRole("combobox", { name: "Model" }).selectOption("");
    expect(await defaults.getByRole("radio").count()).toBe(6);
  });

  it("show the tools, and a server that cannot be reached", async () => {
    const tab = await site().open("/settings/tools", phone);
    const tools = region(tab, "Tools");
    await tools.getByText("broken").waitFor();
    await tools.getByText("failed").waitFor();
    await tools.getByText("calculator").first().waitFor();
    expect(await tab.tooWide()).toEqual([]);
    expect(await findings(tab)).toEqual([]);
  });

  it("export all conversations, delete them after a typed confirmation, and import them again", async () => {
    const tab = await site().open();
    await tab.begin("to be kept in a file");
    await tab.ended(1);
    const listed = async () =>
      (await site().ask<ListConversationsResponse>("GET", "/conversations")).conversations.map(
        ({ id }) => id,
      );
    const before = await listed();
    await tab.page.keyboard.press("Control+,");
    await open(tab, "Data");
    const data = region(tab, "Data");
    expect(await findings(tab)).toEqual([]);
    const download = tab.page.waitForEvent("download");
    await data.getByRole("button", { name: "Export all" }).click();
    const path = await (await download).path();
    expect(await readFile(path, "utf8")).toContain("to be kept in a file");

    const remove = data.getByRole("button", { name: "Delete all" });
    await data.getByRole("textbox").fill("delete");
    expect(await remove.isEnabled()).toBe(false);
    await data.getByRole("textbox").fill("delete all");
    await remove.click();
    await tab.page.getByText(`Deleted ${before.length} conversation`).waitFor();
    expect(await listed()).toEqual([]);

    await data.getByLabel("Files to import").setInputFiles({
      name: "broken.jsonl",
      mimeType: "application/jsonl",
      buffer: Buffer.from("# no export"),
    });
    await data.getByText("broken.jsonl: This is not an export of Parley").waitFor();
    await data.getByLabel("Files to import").setInputFiles(path);
    await data.getByText(`Imported ${before.length} conversation`).waitFor();
    expect((await listed()).sort()).toEqual([...before].sort());
  });

  it("say so where there is no such section", async () => {
    const tab = await site().open("/settings/nothing");
    await tab.page.getByText("There is no such section").waitFor();
  });

  it("make and revoke API keys", async () => {
    const tab = await site().open("/settings/keys");
    const keys = region(tab, "API keys");
    await keys.getByText("There are no keys.").waitFor();
    // The first key makes the server private. The user that creates it is not locked out.
    await keys.getByRole("button", { name: "Make the first key" }).click();
    await keys.getByRole("listitem").filter({ hasText: "admin" }).waitFor();
    expect(await keys.locator("code", { hasText: "pk_" }).last().textContent()).toMatch(/^pk_/);
    await keys.getByRole("textbox", { name: "Owner" }).fill("ada");
    await keys.getByRole("button", { name: "Make a key" }).click();
    const entry = keys.getByRole("listitem").filter({ hasText: "ada" });
    await entry.waitFor();
    expect(await findings(tab)).toEqual([]);
    await entry.getByRole("button", { name: /^Revoke the key/ }).click();
    await entry.getByRole("button", { name: "Revoke permanently" }).click();
    await entry.waitFor({ state: "detached" });
  });
});

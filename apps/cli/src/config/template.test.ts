import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { loadConfig } from "./load-config.js";
import { configTemplate, type TemplateKind } from "./template.js";

function place(name: string, text: string): string {
  const folder = mkdtempSync(join(tmpdir(), "parley-template-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  writeFileSync(join(folder, name), text);
  return folder;
}

const context = { installed: false, version: "1.2.3" };
const load = (kind: TemplateKind, text: string) => {
  const workingFolder = place(`parley.config.${kind}`, text);
  const env = {
    XDG_CONFIG_HOME: workingFolder,
    XDG_DATA_HOME: workingFolder,
    OPENAI_API_KEY: "k",
    ANTHROPIC_API_KEY: "k",
  };
  return loadConfig({ env, workingFolder });
};

describe("the configuration file of `parley init`", () => {
  it.each(["mjs", "json"] as const)("loads as it is, as %s", async (kind) => {
    const config = await load(kind, configTemplate(kind, context));
    expect(config.store).toMatchObject({ kind: "folder", folder: expect.stringMatching(/\.parley$/) });
    expect(config.listen).toEqual({ host: "127.0.0.1", port: 4141 });
    expect(config.tools).toEqual({ time: true, calculator: true });
  });

  it("has examples that hold when they are no comments any more", async () => {
    const text = configTemplate("mjs", context).replace(
      /^ {2}\/\/ (?=[a-z][A-Za-z]*: |\}| {2}[A-Za-z]+: )/gm,
      "  ",
    );
    const config = await load("mjs", text);
    expect(config.defaultModel).toBe("openai/gpt-5.1");
    expect([...config.credentials.keys()]).toEqual(["openai", "anthropic", "local"]);
    expect(config).toMatchObject({ titleModel: "conversation", compactAt: 0.8, auth: "auto" });
    expect(config.limits.maxSteps).toBe(32);
    expect(config.approvals).toMatchObject({ rules: [{ tool: "http_get" }], askUser: true });
    expect(config.page).toMatch(/dist$/);
  });

  it("uses defineConfig in TypeScript, and the schema of the installed package in JSON", () => {
    expect(configTemplate("ts", context)).toContain('import { defineConfig } from "@parley/cli/config";');
    const { $schema } = JSON.parse(configTemplate("json", { ...context, installed: true }));
    expect($schema).toBe("./node_modules/@parley/cli/parley.config.schema.json");
    expect(configTemplate("json", context)).toContain("/v1.2.3/");
  });
});

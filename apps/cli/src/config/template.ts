import { settingDescriptions } from "./setting-descriptions.js";

/** The endings of configuration files that can be written. */
export type TemplateKind = "mjs" | "ts" | "json";

interface TemplateContext {
  /** `@parley/cli` is installed beside the file, so that the file can refer to it. */
  readonly installed: boolean;
  readonly version: string;
}

/** Makes a configuration file in which each setting is explained. It loads as it is, with the defaults. */
export function configTemplate(kind: TemplateKind, context: TemplateContext): string {
  if (kind === "json") return jsonTemplate(context);
  const [head, tail] =
    kind === "ts"
      ? ['import { defineConfig } from "@parley/cli/config";\n\nexport default defineConfig({', "});"]
      : ['/** @type {import("@parley/cli/config").ParleyConfig} */\nexport default {', "};"];
  return `${head}\n${settings.map(moduleSetting).join("\n")}\n${tail}\n`;
}

/** A JSON file has no comments: its schema explains it, in the editor. */
function jsonTemplate({ installed, version }: TemplateContext): string {
  const $schema = installed
    ? "./node_modules/@parley/cli/parley.config.schema.json"
    : `https://github.com/parley-dev/parley/raw/v${version}/apps/cli/parley.config.schema.json`;
  const content = { $schema, store: { folder: ".parley" }, listen: { host: "127.0.0.1", port: 4141 } };
  return `${JSON.stringify(content, undefined, 2)}\n`;
}

/** A setting with an example; `isSet` ones are written as they are, the others as comments. */
interface Setting {
  readonly name: string;
  readonly example: string;
  readonly isSet?: boolean;
}

const settings: readonly Setting[] = [
  { name: "store", example: '{ folder: ".parley" }, // or { url: process.env.DATABASE_URL }', isSet: true },
  { name: "listen", example: '{ host: "127.0.0.1", port: 4141 },', isSet: true },
  { name: "origins", example: '["http://localhost:5173"],' },
  {
    name: "models",
    example: `{
  openai: { kind: "openai", models: ["gpt-5.1"] }, // the key comes from OPENAI_API_KEY
  anthropic: { kind: "anthropic" },
  local: { kind: "compatible", baseUrl: "http://127.0.0.1:11434/v1" },
},`,
  },
  { name: "defaultModel", example: '"openai/gpt-5.1",' },
  { name: "titleModel", example: '"conversation",' },
  { name: "instructions", example: '"You are a helpful assistant.",' },
  { name: "reasoningEffort", example: '"high",' },
  { name: "compactAt", example: "0.8," },
  {
    name: "tools",
    example:
      '{ time: true, calculator: true }, // also files: { root: "./docs" }, httpGet: { allow: ["example.com"] }',
    isSet: true,
  },
  {
    name: "approvals",
    example: `{
  rules: [{ tool: "http_get", approval: "once", reason: "It leaves this machine." }],
  expiresMs: 86_400_000,
  askUser: true,
},`,
  },
  { name: "limits", example: "{ runningTurns: 200, queueLength: 50, maxSteps: 32 }," },
  { name: "auth", example: '"auto",' },
  { name: "starters", example: '["Summarize this document", "Explain this code"],' },
  { name: "page", example: '"./dist",' },
];

function moduleSetting({ name, example, isSet = false }: Setting): string {
  const lines = `${name}: ${example}`.split("\n");
  return [
    `  // ${settingDescriptions[name]}`,
    ...lines.map((line) => (isSet ? `  ${line}` : `  // ${line}`)),
  ].join("\n");
}

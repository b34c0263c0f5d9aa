import { omitUndefined } from "@parley/fold";
import type { Environment, ResolvedCredential } from "./config.js";
import type { ModelEntry } from "./config-schema.js";
import { nonEmpty } from "./non-empty.js";

/** Models of a credential that does not list any. */
export const usualModels: Readonly<Record<"openai" | "anthropic", readonly [string, ...string[]]>> = {
  openai: ["gpt-5.1", "gpt-5-mini"],
  anthropic: ["claude-sonnet-4-5", "claude-haiku-4-5", "claude-opus-4-5"],
};

/**
 * The credentials that the environment gives: `OPENAI_API_KEY`, `ANTHROPIC_API_KEY` and `OPENAI_BASE_URL`. With a base
 * URL the OpenAI key belongs to that server: it is not sent anywhere else. `PARLEY_MODELS` names the models, as
 * `credential/model`, separated by commas.
 */
export function environmentCredentials(env: Environment): ReadonlyMap<string, ResolvedCredential> {
  const found = new Map<string, ResolvedCredential>();
  const openAiKey = nonEmpty(env.OPENAI_API_KEY);
  const baseUrl = nonEmpty(env.OPENAI_BASE_URL);
  const anthropicKey = nonEmpty(env.ANTHROPIC_API_KEY);
  if (baseUrl !== undefined) {
    found.set("compatible", {
      kind: "compatible",
      baseUrl,
      ...omitUndefined({ apiKey: openAiKey }),
      ...named(env, "compatible"),
    });
  } else if (openAiKey !== undefined) {
    found.set("openai", { kind: "openai", apiKey: openAiKey, ...named(env, "openai") });
  }
  if (anthropicKey !== undefined) {
    found.set("anthropic", { kind: "anthropic", apiKey: anthropicKey, ...named(env, "anthropic") });
  }
  return found;
}

function named(env: Environment, credential: string): { models?: ModelEntry[] } {
  const models = (env.PARLEY_MODELS ?? "")
    .split(",")
    .map((name) => name.trim())
    .filter((name) => name.startsWith(`${credential}/`))
    .map((name) => name.slice(credential.length + 1))
    .filter((name) => name !== "");
  return models.length === 0 ? {} : { models };
}

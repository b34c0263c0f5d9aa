import type { ProviderCallParams } from "@parley/core/ports";

type Effort = NonNullable<ProviderCallParams["reasoningEffort"]>;

// These refuse `reasoning` and requests for encrypted reasoning; every newer model reasons.
const withoutReasoning = /^(?:ft:)?(?:gpt-3\.5|gpt-4|chatgpt-|gpt-5-chat|davinci|babbage)/;
// These refuse the levels above `high`.
const upToHigh = /^(?:o1|o3|o4|codex-mini|gpt-5(?:-|$)|gpt-5\.1(?!-codex-max)|gpt-oss)/;
// These support `xhigh` and nothing above it.
const upToXhigh = /^(?:gpt-5\.1-codex-max|gpt-5\.[2-5])/;

/**
 * Returns true if a model accepts `reasoning`, judged by its name. Unknown names are assumed to be newer
 * models, which do.
 */
export function reasons(model: string): boolean {
  return !withoutReasoning.test(baseName(model));
}

// The names of models that reason, as OpenAI names them.
const knownToReason = /^(?:ft:)?(?:o\d|gpt-(?:[5-9]|\d\d)|codex-)/;

/**
 * Returns true if a model gets instructions in the role `developer`. On another server only a model with a
 * known name does: any other model there may support no role but `system`.
 */
export function takesDeveloper(model: string, isOpenAI: boolean): boolean {
  return reasons(model) && (isOpenAI || knownToReason.test(baseName(model)));
}

/**
 * Returns the effort level that the model accepts: the level itself, or the highest that an older model
 * supports.
 */
export function effortFor(model: string, effort: Effort): Effort {
  if (effort !== "xhigh" && effort !== "max") return effort;
  const name = baseName(model);
  if (upToHigh.test(name)) return "high";
  return upToXhigh.test(name) ? "xhigh" : effort;
}

function baseName(model: string): string {
  return model.slice(model.lastIndexOf("/") + 1).toLowerCase();
}

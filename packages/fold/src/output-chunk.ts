import type { OutputInvalidEntry, SystemChunk } from "@parley/wire";

/**
 * Creates the chunk of an entry about an answer that did not match: its data, and the same for people and the
 * model.
 */
export function outputChunk(output: OutputInvalidEntry): SystemChunk {
  return { type: "system", text: outputInvalidText(output), output };
}

/** Returns the text that asks the model to answer again. */
export function outputInvalidText({ name, errors }: OutputInvalidEntry): string {
  const problems = errors.map((error) => `- ${error}`).join("\n");
  return `The answer does not match the schema of "${name}":\n${problems}\nAnswer again, with the corrected JSON only.`;
}

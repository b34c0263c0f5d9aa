import { sha256 } from "../../messages/text/sha256.js";
import { canonicalJson } from "../tools/canonical-json.js";
import { type Tool, toolDefinition } from "../tools/tool.js";

/**
 * Returns a hash of a tool's description to the model and to people: its name, description and schema. An approval
 * holds for the tool as it was described then.
 */
export function toolHash(tool: Tool<never>): string {
  const { name, description, schema } = toolDefinition(tool);
  return sha256(canonicalJson({ name, description: description ?? "", schema: schema ?? null }) ?? name);
}

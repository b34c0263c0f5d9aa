import { z } from "zod";
import { configSchema } from "./config-schema.js";
import { settingDescriptions } from "./setting-descriptions.js";

/** A node of a JSON schema, as far as it is walked here. */
interface SchemaNode {
  description?: string;
  properties?: Record<string, SchemaNode>;
  additionalProperties?: SchemaNode | boolean;
  required?: string[];
  anyOf?: SchemaNode[];
  oneOf?: SchemaNode[];
  [keyword: string]: unknown;
}

/** Makes the JSON schema of `parley.config.json`. What only a module can hold is left out. */
export function configJsonSchema(): SchemaNode {
  const schema = z.toJSONSchema(configSchema, { io: "input", unrepresentable: "any" }) as SchemaNode;
  dropModuleOnly(schema);
  describeNode(schema, "");
  return { ...schema, title: "Configuration of Parley" };
}

function dropModuleOnly(schema: SchemaNode): void {
  delete schema.properties?.tools?.properties?.custom;
  const credentials = schema.properties?.models?.additionalProperties;
  if (typeof credentials !== "object") return;
  for (const kinds of [credentials.anyOf, credentials.oneOf]) {
    const custom = kinds?.findIndex((kind) => kind.properties?.kind?.const === "custom") ?? -1;
    if (custom >= 0) kinds?.splice(custom, 1);
  }
}

function describeNode(node: SchemaNode, path: string): void {
  const description = settingDescriptions[path];
  if (description !== undefined) node.description = description;
  const inner = (name: string) => (path === "" ? name : `${path}.${name}`);
  for (const [name, member] of Object.entries(node.properties ?? {})) describeNode(member, inner(name));
  if (typeof node.additionalProperties === "object") describeNode(node.additionalProperties, inner("*"));
  for (const branch of [...(node.anyOf ?? []), ...(node.oneOf ?? [])]) {
    for (const [name, member] of Object.entries(branch.properties ?? {})) describeNode(member, inner(name));
  }
}

import type { JsonObject } from "@parley/wire";
import type { Tool } from "../tools/tool.js";

/** The arguments of `ask_user`. */
export interface AskUserInput {
  readonly question: string;
  /** The answers to choose from. */
  readonly options?: readonly string[];
  /** JSON Schema of the answer, if it is more than a text. */
  readonly schema?: JsonObject;
}

/** The name of the tool by which a model asks a person. */
const askUserName = "ask_user";

/**
 * Lets the model ask the user a question: the turn waits for the answer, which is checked against the schema that the
 * model gave.
 */
export const askUserTool: Tool<AskUserInput> = {
  name: askUserName,
  origin: "builtin",
  description:
    "Asks the user a question and waits for the answer. Use it only when you cannot go on without it. Give `options` for a choice, or `schema` (JSON Schema) for an answer with a structure; otherwise the answer is a text.",
  schema: {
    type: "object",
    properties: {
      question: { type: "string", minLength: 1 },
      options: { type: "array", items: { type: "string" }, minItems: 2 },
      schema: { type: "object" },
    },
    required: ["question"],
    additionalProperties: false,
  },
  answeredBy: "person",
  ask({ question, options, schema }) {
    const answer = schema ?? (options === undefined ? { type: "string" } : { enum: [...options] });
    return { reason: question, schema: answer };
  },
  execute() {
    throw new TypeError("A question is answered by a person");
  },
};

import type { AgentEvent, JsonObject, SendMessageRequest, TurnOutput } from "@parley/wire";
import type { ParleyClient } from "../client.js";
import { ParleyRequestError } from "../requests/request-error.js";
import { partialJson } from "./partial-json.js";

/** The part of Standard Schema that is used here: any validator that implements it types and checks the value. */
export interface OutputSchema<Value> {
  readonly "~standard": {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => OutputCheck<Value> | Promise<OutputCheck<Value>>;
    readonly jsonSchema?: { readonly input: (options: { target: "draft-07" }) => Record<string, unknown> };
  };
}

type OutputCheck<Value> =
  | { readonly value: Value; readonly issues?: undefined }
  | { readonly issues: readonly { readonly message: string }[] };

/** A value while it is written: everything may still be missing. */
export type PartialOutput<Value> = Value extends readonly (infer Item)[]
  ? readonly PartialOutput<Item>[]
  : Value extends object
    ? { readonly [Key in keyof Value]?: PartialOutput<Value[Key]> | undefined }
    : Value;

/** A message whose turn returns data. */
export interface OutputMessage<Value> extends Omit<SendMessageRequest, "output" | "ifBusy"> {
  readonly output: {
    readonly name?: string | undefined;
    readonly description?: string | undefined;
    /** A validator with a JSON Schema of its own, or a JSON Schema of an object. */
    readonly schema: OutputSchema<Value> | JsonObject;
    readonly retries?: number | undefined;
  };
}

/** The data of a turn, on its way. */
export interface RequestedOutput<Value> {
  /** The value so far, each time that there is more; not checked, and never the final value. */
  readonly partials: AsyncIterable<PartialOutput<Value>>;
  /** The value, once the turn is sealed. Rejects with `output_invalid` if the model did not produce one. */
  readonly value: Promise<Value>;
}

/**
 * Sends a message and returns the data of its turn. The message is sent at once; a caller that only wants the value
 * need not read the partials. Aborting leaves the turn running: the same `messageId` leads back to it.
 */
export function requestOutput<Value = unknown>(
  client: Pick<ParleyClient, "chat">,
  message: OutputMessage<Value>,
  options: { readonly signal?: AbortSignal | undefined } = {},
): RequestedOutput<Value> {
  const { schema } = message.output;
  const progress = new Progress<PartialOutput<Value>>();
  const value = (async () => {
    try {
      const request = { ...message, output: { ...message.output, schema: jsonSchemaOf(schema) } };
      return await readValue(client.chat(request, options), schema, progress);
    } finally {
      progress.end();
    }
  })();
  // A caller that reads only the partials gets the failure from them, not as an unhandled rejection too.
  value.catch(() => {});
  return { partials: { [Symbol.asyncIterator]: () => progress.read(value) }, value };
}

async function readValue<Value>(
  events: AsyncIterable<AgentEvent>,
  schema: OutputSchema<Value> | JsonObject,
  progress: Progress<PartialOutput<Value>>,
): Promise<Value> {
  const texts = new LastText();
  for await (const event of events) {
    if (event.type === "text-delta" && texts.add(event)) {
      const { text } = texts;
      // Parsed only when a reader asks: a long answer is not parsed again for each of its words.
      progress.show(() => partialJson(text) as PartialOutput<Value> | undefined);
    }
    if (event.type === "status" && event.waiting !== undefined) {
      const message = "The turn waits for input: answer it, and send the same message id again";
      throw new ParleyRequestError("turn_active", message);
    }
    if (event.type === "turn-sealed") return checked(event.output, schema);
  }
  throw new ParleyRequestError("network", "The answer broke off before the end of the turn");
}

/** The text of the answer so far: that of the newest part of the newest step. */
class LastText {
  text = "";
  #place = "";

  add({ messageId, partIndex, delta }: AgentEvent & { type: "text-delta" }): boolean {
    const place = `${messageId} ${partIndex}`;
    if (place !== this.#place) this.text = "";
    this.#place = place;
    this.text += delta;
    return delta !== "";
  }
}

async function checked<Value>(
  output: TurnOutput | undefined,
  schema: OutputSchema<Value> | JsonObject,
): Promise<Value> {
  if (output?.valid !== true) throw invalid(output?.errors ?? ["the server does not support it"]);
  if (!isValidator(schema)) return output.value as Value;
  const result = await schema["~standard"].validate(output.value);
  if (result.issues === undefined) return result.value;
  throw invalid(result.issues.map(({ message }) => message));
}

function invalid(errors: readonly string[]): ParleyRequestError {
  return new ParleyRequestError("output_invalid", `The turn returned no valid data: ${errors.join("; ")}`);
}

function isValidator<Value>(schema: OutputSchema<Value> | JsonObject): schema is OutputSchema<Value> {
  return "~standard" in schema;
}

function jsonSchemaOf(schema: OutputSchema<unknown> | JsonObject): JsonObject {
  if (!isValidator(schema)) return schema;
  const json = schema["~standard"].jsonSchema?.input({ target: "draft-07" });
  if (json !== undefined) return json as JsonObject;
  const { vendor } = schema["~standard"];
  throw new ParleyRequestError(
    "invalid_request",
    `output.schema: ${vendor} has no JSON Schema for it: pass one`,
  );
}

/** The newest state of something, for one reader or many: a slow reader skips old states. */
class Progress<State> {
  #state: () => State | undefined = () => undefined;
  #version = 0;
  #isOver = false;
  #waiting: (() => void)[] = [];

  show(state: () => State | undefined): void {
    this.#state = state;
    this.#version += 1;
    this.#wake();
  }

  end(): void {
    this.#isOver = true;
    this.#wake();
  }

  /** Ends with the failure of `outcome`, if it fails. */
  async *read(outcome: Promise<unknown>): AsyncGenerator<State, void, undefined> {
    for (let seen = 0; ; ) {
      if (this.#version > seen) {
        seen = this.#version;
        const state = this.#state();
        if (state !== undefined) yield state;
      } else if (this.#isOver) {
        await outcome;
        return;
      } else await new Promise<void>((resolve) => this.#waiting.push(resolve));
    }
  }

  #wake(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const resume of waiting) resume();
  }
}

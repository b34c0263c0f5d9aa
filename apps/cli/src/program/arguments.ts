import { Argument, InvalidArgumentError, Option } from "commander";
import { idHelp } from "../resolve-id.js";
import type { VerbContext, VerbResult } from "../verb-context.js";

/** Makes an action of a verb: it receives its context first, then the arguments and options from commander. */
export type Act = <Args extends readonly unknown[]>(
  verb: (context: VerbContext, ...args: Args) => VerbResult,
) => (...args: unknown[]) => Promise<void>;

/** Options of verbs that have only `--json`. */
export interface JsonOption {
  readonly json?: boolean;
}

const efforts = ["low", "medium", "high", "xhigh", "max"];

export const conversation = () => new Argument("<conversation>", idHelp);
export const json = () => new Option("--json", "print JSON");
export const model = () =>
  new Option("-m, --model <model>", "the model, as credential/model; `parley models` lists them");
export const effort = () => new Option("-e, --effort <level>", "reasoning effort").choices(efforts);
export const limit = (description: string, value: number) =>
  new Option("-n, --limit <count>", description).argParser(count).default(value);

/** Examples below a command's help. */
export function examples(...lines: readonly string[]): string {
  return `\nExamples:\n${lines.map((line) => `  ${line}`).join("\n")}`;
}

/** Parses a whole number from 1 on. */
export function count(text: string): number {
  if (!/^\d{1,7}$/.test(text) || Number(text) < 1)
    throw new InvalidArgumentError("A whole number from 1 on is expected.");
  return Number(text);
}

/** Parses a whole number from 0 on. */
export function whole(text: string): number {
  if (!/^\d{1,12}$/.test(text)) throw new InvalidArgumentError("A whole number is expected.");
  return Number(text);
}

/** Parses a port. */
export function port(text: string): number {
  if (!/^\d{1,5}$/.test(text) || Number(text) > 65_535)
    throw new InvalidArgumentError("A port from 0 to 65535 is expected.");
  return Number(text);
}

/** Collects an option that may be repeated. */
export const collect = (value: string, before: readonly string[]): readonly string[] => [...before, value];

import { omitUndefined } from "@parley/fold";
import type { Command, Option } from "commander";

/** A command as shell completion needs it. */
export interface CommandNode {
  readonly name: string;
  readonly about: string;
  readonly options: readonly OptionNode[];
  readonly commands: readonly CommandNode[];
  /** The first argument names a conversation. */
  readonly takesConversation: boolean;
  /** The words that its argument may be. */
  readonly choices: readonly string[];
}

/** An option as shell completion needs it. */
export interface OptionNode {
  readonly long: string;
  readonly short?: string;
  readonly about: string;
  readonly takesValue: boolean;
  readonly choices: readonly string[];
  /** Its value names a model. */
  readonly takesModel: boolean;
}

/** The program as a tree, read off its own definition, so that completion never lags behind. */
export function commandTree(command: Command): CommandNode {
  const help = command.createHelp();
  const [argument] = command.registeredArguments;
  return {
    name: command.name(),
    about: command.description(),
    options: help
      .visibleOptions(command)
      .filter(({ long }) => long !== undefined)
      .map(optionNode),
    commands: help
      .visibleCommands(command)
      .filter((sub) => sub.name() !== "help")
      .map(commandTree),
    takesConversation: /^conversations?$/.test(argument?.name() ?? ""),
    choices: argument?.argChoices ?? [],
  };
}

function optionNode(option: Option): OptionNode {
  return {
    long: option.long ?? "",
    ...omitUndefined({ short: option.short }),
    about: option.description,
    takesValue: option.required || option.optional,
    choices: option.argChoices ?? [],
    takesModel: option.long === "--model",
  };
}

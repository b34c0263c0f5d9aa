import type { Command } from "../app/commands/commands.js";

/** The commands of one kind. */
export interface CommandGroup {
  readonly group: Command["group"];
  readonly commands: readonly Command[];
}

const order: readonly Command["group"][] = ["Conversation", "Composer", "View", "Go to"];

/** Groups commands, in a fixed order; of several with one id the newest, because it is the nearest. */
export function groupCommands(commands: readonly Command[]): readonly CommandGroup[] {
  const newest = [...new Map(commands.map((command) => [command.id, command])).values()];
  return order
    .map((group) => ({ group, commands: newest.filter((command) => command.group === group) }))
    .filter((group) => group.commands.length > 0);
}

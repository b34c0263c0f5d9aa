import type { CommandNode, OptionNode } from "./command-tree.js";

/** Shells with a completion script. */
export const shells = ["bash", "zsh", "fish"] as const;
export type Shell = (typeof shells)[number];

/** Returns a completion script for a shell. It completes ids of conversations only while a server is running. */
export function completionScript(shell: Shell, root: CommandNode): string {
  if (shell === "bash") return bash(root);
  return shell === "zsh" ? zsh(root) : fish(root);
}

/** Every command with the words that lead to it. */
function* paths(
  node: CommandNode,
  path: readonly string[] = [],
): Iterable<{ path: readonly string[]; node: CommandNode }> {
  yield { path, node };
  for (const command of node.commands) yield* paths(command, [...path, command.name]);
}

const flags = ({ long, short }: OptionNode) => [long, ...(short === undefined ? [] : [short])];
const quote = (text: string) => `'${text.replaceAll("'", "'\\''")}'`;

function bash(root: CommandNode): string {
  const cases = [...paths(root)].map(({ path, node }) => {
    const words = [...node.commands.map(({ name }) => name), ...node.choices, ...node.options.flatMap(flags)];
    const ids = node.takesConversation ? " ids=1" : "";
    return `    ${quote(path.join(" "))}) words=${quote(words.join(" "))}${ids} ;;`;
  });
  const values = [...paths(root)].flatMap(({ path, node }) =>
    node.options
      .filter(({ takesValue }) => takesValue)
      .map((option) => {
        const patterns = flags(option).map((flag) => quote(`${path.join(" ")} ${flag}`.trim()));
        const words = option.takesModel
          ? '"$(parley complete-models 2>/dev/null)"'
          : quote(option.choices.join(" "));
        const offered = option.takesModel || option.choices.length > 0 ? `-W ${words}` : "-f";
        return `    ${patterns.join("|")}) COMPREPLY=($(compgen ${offered} -- "$current")); return ;;`;
      }),
  );
  const known = [...paths(root)]
    .filter(({ path }) => path.length > 0)
    .map(({ path }) => quote(path.join(" ")));
  return `# Completion of parley for bash. Load it with: source <(parley completion bash)
_parley() {
  local current="\${COMP_WORDS[COMP_CWORD]}" previous="\${COMP_WORDS[COMP_CWORD-1]}" command="" word words="" ids=""
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case "\${command:+$command }$word" in
    ${known.join("|")}) command="\${command:+$command }$word" ;;
    esac
  done
  case "\${command:+$command }$previous" in
${values.join("\n")}
  esac
  case "$command" in
${cases.join("\n")}
  esac
  [ -n "$ids" ] && [ "\${current#-}" = "$current" ] && words="$words $(parley complete-ids 2>/dev/null)"
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -o default -F _parley parley
`;
}

function zsh(root: CommandNode): string {
  const describe = ({ name, about }: CommandNode) => quote(`${name.replaceAll(":", "\\:")}:${about}`);
  const functions = [...paths(root)].map(({ path, node }) => {
    const specs = node.options.map((option) => quote(zshOption(option)));
    const name = ["_parley", ...path].join("_").replaceAll("-", "_");
    if (node.commands.length > 0) {
      const branches = node.commands.map(
        (sub) => `      ${sub.name}) ${name}_${sub.name.replaceAll("-", "_")} ;;`,
      );
      return `${name}() {
  local -a commands
  commands=(${node.commands.map(describe).join(" ")})
  _arguments -C ${[...specs, "'1: :->command'", "'*:: :->rest'"].join(" ")}
  case $state in
    command) _describe command commands ;;
    rest) case $words[1] in
${branches.join("\n")}
    esac ;;
  esac
}`;
    }
    const argument = node.takesConversation
      ? ["'*:conversation:_parley_ids'"]
      : node.choices.length > 0
        ? [quote(`1:value:(${node.choices.join(" ")})`)]
        : ["'*:file:_files'"];
    return `${name}() { _arguments ${[...specs, ...argument].join(" ")} }`;
  });
  return `#compdef parley
# Completion of parley for zsh. Load it with: source <(parley completion zsh)
_parley_models() { local -a models; models=(\${(f)"$(parley complete-models 2>/dev/null)"}); compadd -a models }
_parley_ids() { local -a ids; ids=(\${(f)"$(parley complete-ids 2>/dev/null)"}); compadd -a ids }
${functions.join("\n")}
compdef _parley parley
`;
}

function zshOption(option: OptionNode): string {
  const about = option.about.replace(/[[\]:]/g, "");
  const values = option.choices.length > 0 ? `(${option.choices.join(" ")})` : "_files";
  const value = option.takesValue ? `:value:${option.takesModel ? "_parley_models" : values}` : "";
  return `${option.long}[${about}]${value}`;
}

function fish(root: CommandNode): string {
  const lines = [...paths(root)].flatMap(({ path, node }) => {
    const here = fishCondition(path, node);
    return [
      ...node.commands.map(
        ({ name, about }) => `complete -c parley -n ${quote(here)} -a ${quote(name)} -d ${quote(about)}`,
      ),
      ...node.options.map(
        (option) => `complete -c parley -n ${quote(here)} ${fishOption(option)} -d ${quote(option.about)}`,
      ),
      ...node.choices.map((choice) => `complete -c parley -n ${quote(here)} -a ${quote(choice)}`),
      ...(node.takesConversation
        ? [`complete -c parley -n ${quote(here)} -a '(parley complete-ids 2>/dev/null)'`]
        : []),
    ];
  });
  return `# Completion of parley for fish. Load it with: parley completion fish | source
complete -c parley -f
${lines.join("\n")}
`;
}

/** Returns a condition for a command's own level: its words were typed, and none of a subcommand. */
function fishCondition(path: readonly string[], node: CommandNode): string {
  const said = path.map((word) => `__fish_seen_subcommand_from ${word}`);
  const below =
    node.commands.length === 0
      ? []
      : [`not __fish_seen_subcommand_from ${node.commands.map(({ name }) => name).join(" ")}`];
  return [...said, ...below].join("; and ") || "true";
}

function fishOption({ long, short, takesValue, choices, takesModel }: OptionNode): string {
  const parts = [`-l ${long.replace(/^--/, "")}`];
  if (short !== undefined) parts.push(`-s ${short.replace(/^-/, "")}`);
  if (takesModel) parts.push("-x -a '(parley complete-models 2>/dev/null)'");
  else if (takesValue) parts.push(choices.length > 0 ? `-x -a ${quote(choices.join(" "))}` : "-r");
  return parts.join(" ");
}

import type { Command } from "commander";
import type { AddConnectionOptions, ChangeConnectionOptions } from "../verbs/keeping/connections.js";
import { type Act, examples, type JsonOption, json } from "./arguments.js";

/** Connections to providers of models. */
export function addConnections(program: Command, act: Act): void {
  const connect = program
    .command("connect")
    .description("manage connections to providers of models while the server runs");
  const verbs = () => import("../verbs/keeping/connections.js");
  const named = (name: string, description: string) =>
    connect.command(name).description(description).argument("<name>", "the name of the connection");
  const withKey = (command: Command) =>
    command
      .option("--key-from-env <variable>", "read the key from this environment variable")
      .option("--key-from-stdin", "read the key from standard input");
  withKey(
    connect
      .command("add", { isDefault: true })
      .description("connect to a provider; its models can be used at once")
      .argument("[kind]", "openai, anthropic, or compatible for any server that speaks OpenAI's protocol"),
  )
    .option("--no-key", "connect without a key")
    .option("--address <url>", "the address of the API, such as http://127.0.0.1:11434/v1")
    .option("--name <name>", "the first part of its models' names (default: the kind)")
    .option("--models <list>", "models, separated by commas (default: those that the provider lists)")
    .addOption(json())
    .action(
      act(async (context, kind: string | undefined, options: AddConnectionOptions) =>
        (await verbs()).addConnection(kind, options, context),
      ),
    );
  connect
    .command("ls")
    .alias("list")
    .description("list the connections, without keys")
    .addOption(json())
    .action(act(async (context, options: JsonOption) => (await verbs()).listConnections(options, context)));
  named("test", "check a connection and update its models from the provider; costs no tokens")
    .addOption(json())
    .action(
      act(async (context, name: string, options: JsonOption) =>
        (await verbs()).testConnection(name, options, context),
      ),
    );
  withKey(named("change", "change the key, the address or the models of a connection"))
    .option("--address <url>", "another address; the key is needed again")
    .option("--models <list>", "models, separated by commas; `all`: those that the provider lists")
    .addOption(json())
    .action(
      act(async (context, name: string, options: ChangeConnectionOptions) =>
        (await verbs()).changeConnection(name, options, context),
      ),
    );
  named("rename", "rename a connection and its models")
    .argument("<new-name>", "the new name")
    .action(
      act(async (context, name: string, newName: string) =>
        (await verbs()).renameConnection(name, newName, context),
      ),
    );
  named("rm", "remove a connection and its key")
    .alias("remove")
    .action(act(async (context, name: string) => (await verbs()).removeConnection(name, context)));
  connect.addHelpText(
    "after",
    examples(
      "parley connect openai",
      "parley connect anthropic --key-from-env ANTHROPIC_API_KEY",
      "parley connect compatible --name ollama --address http://127.0.0.1:11434/v1 --no-key",
      "parley connect test ollama",
    ),
  );
}

import { Argument, type Command, Option } from "commander";
import { type Shell, shells } from "../completion/scripts.js";
import type { DoctorOptions } from "../verbs/keeping/doctor.js";
import type { InitOptions } from "../verbs/keeping/init.js";
import type { CreateKeyOptions } from "../verbs/keeping/keys.js";
import type { MigrateOptions } from "../verbs/keeping/migrate.js";
import type { ServeOptions } from "../verbs/keeping/serve.js";
import type { MoveOptions } from "../verbs/keeping/shard.js";
import { type Act, count, examples, type JsonOption, json, port } from "./arguments.js";

/** Levels of the server's log, from the most lines to none. */
const logLevels = ["debug", "info", "warn", "error", "silent"];

/** The server. */
export function addServer(program: Command, act: Act): void {
  program
    .command("serve")
    .description("start the server: API, socket and page")
    .option(
      "--host <address>",
      "address to listen on (PARLEY_HOST); one that other machines reach needs a key first",
    )
    .option("--port <port>", "port to listen on; 0 takes a free one (PARLEY_PORT; default: 4141)", port)
    .option("--insecure", "let other machines in without a key: every caller gets full access")
    .option("--no-page", "do not serve the page")
    .addOption(
      new Option("--drain <seconds>", "time for running turns to finish their step when the server stops")
        .argParser(count)
        .default(20),
    )
    .addOption(
      new Option(
        "--log-level <level>",
        "lowest level that is logged; debug includes health checks and requests for metrics",
      )
        .choices(logLevels)
        .env("PARLEY_LOG_LEVEL"),
    )
    .addHelpText(
      "after",
      examples(
        "parley serve",
        "parley serve --port 0 --store /var/lib/parley",
        "parley keys create && parley serve --host 0.0.0.0",
      ),
    )
    .action(
      act(async (context, options: ServeOptions) =>
        (await import("../verbs/keeping/serve.js")).serve(options, context),
      ),
    );
}

/** The MCP server over standard input and output. */
export function addMcp(program: Command, act: Act): void {
  program
    .command("mcp")
    .description("offer the conversations as tools to a program that starts this one (MCP over stdio)")
    .addHelpText(
      "after",
      `\nFor the configuration of such a program:\n  {"mcpServers": {"parley": {"command": "parley", "args": ["mcp"]}}}`,
    )
    .action(act(async (context) => (await import("../verbs/keeping/mcp.js")).mcp(context)));
}

/** Verbs that maintain the installation. */
export function addKeeping(program: Command, act: Act): void {
  const keys = program.command("keys").description("create, list, revoke and recover API keys");
  const verbs = () => import("../verbs/keeping/keys.js");
  keys
    .command("create")
    .description("create a key and show its secret, once")
    .option(
      "--scopes <list>",
      "any of read, write, approve, admin, separated by commas (default: read,write; all for the first key)",
    )
    .addOption(new Option("--scope <list>", "the same").hideHelp())
    .addOption(json())
    .action(act(async (context, options: CreateKeyOptions) => (await verbs()).createKey(options, context)));
  keys
    .command("ls", { isDefault: true })
    .description("list the keys, without secrets")
    .addOption(json())
    .action(act(async (context, options: JsonOption) => (await verbs()).listKeys(options, context)));
  keys
    .command("rm")
    .description("revoke a key")
    .argument("<key>", "its id, or the beginning of it")
    .action(
      act(async (context, word: string, options: object) =>
        (await verbs()).removeKey(word, options, context),
      ),
    );
  keys
    .command("recover")
    .description("create a key with all scopes on the store itself, if the last admin key is lost")
    .addOption(json())
    .action(act(async (context, options: JsonOption) => (await verbs()).recoverKey(options, context)));
  keys
    .command("logout")
    .description("end all logins of pages with a key")
    .argument("<key>", "its id, or the beginning of it")
    .action(
      act(async (context, word: string, options: object) =>
        (await verbs()).endLogins(word, options, context),
      ),
    );
  keys.addHelpText(
    "after",
    examples(
      "parley keys create",
      "parley keys create --owner alice --scopes read",
      "parley keys create --scopes read,approve   # may decide requests, and send nothing",
      "parley keys rm key_4f",
    ),
  );
  program
    .command("init")
    .description("write a commented configuration file, or a project with a chat page")
    .argument("[folder]", "folder to write to (default: the working folder)")
    .option("--json", "as JSON, with a schema for editors")
    .option("--ts", "as TypeScript, for Node 22.18 or newer")
    .option("--starter", "a whole project: a chat page in React, and the configuration of its server")
    .addHelpText("after", examples("parley init", "parley init --json", "parley init --starter my-chat"))
    .action(
      act(async (context, folder: string | undefined, options: InitOptions) =>
        (await import("../verbs/keeping/init.js")).init(folder, options, context),
      ),
    );
  program
    .command("migrate")
    .description(
      "update the store's schema, as a server does when it starts; or move a store to another engine",
    )
    .addOption(
      new Option(
        "--to <engine>",
        "move a store of PGlite, or of an older PostgreSQL, to a private PostgreSQL in the same folder",
      ).choices(["postgres"]),
    )
    .option(
      "--older-bin <folder>",
      "with --to: folder of the programs of the PostgreSQL version that wrote the store",
    )
    .option("--remove-old", "with --to: remove the old files once the copy was compared with them")
    .addOption(json())
    .addHelpText(
      "after",
      examples("parley migrate --store postgres://db/parley", "parley migrate --to postgres"),
    )
    .action(
      act(async (context, options: MigrateOptions) =>
        (await import("../verbs/keeping/migrate.js")).migrate(options, context),
      ),
    );
  addShards(program, act);
  program
    .command("doctor")
    .description("check the machine, the configuration, the providers and the store for problems")
    .option("--fix", "repair what can be repaired safely")
    .option("--no-providers", "do not check the providers")
    .addOption(json())
    .addHelpText(
      "after",
      examples("parley doctor", "parley doctor --fix", "parley doctor --json --no-providers"),
    )
    .action(
      act(async (context, options: DoctorOptions) =>
        (await import("../verbs/keeping/doctor.js")).doctor(options, context),
      ),
    );
}

function addShards(program: Command, act: Act): void {
  const shard = program
    .command("shard")
    .description(
      "list, add and check the shards of a store on several databases, and move owners between them",
    );
  const verbs = () => import("../verbs/keeping/shard.js");
  shard
    .command("ls", { isDefault: true })
    .description("list the shards, with the number of their owners")
    .addOption(json())
    .action(act(async (context, options: JsonOption) => (await verbs()).listShards(options, context)));
  shard
    .command("add")
    .description("prepare a shard that was added to the configuration, or open a closed one for new owners")
    .argument("<name>", "its name in store.shards")
    .addOption(json())
    .action(
      act(async (context, name: string, options: JsonOption) =>
        (await verbs()).addShard(name, options, context),
      ),
    );
  shard
    .command("move")
    .description(
      "move an owner, or all owners of a shard, while they are in use; run again to finish an interrupted move",
    )
    .argument("<owner>", "the owner to move; with --all or --to-node, the shard")
    .argument("[shard]", "the target shard; name the owner's present shard to undo an interrupted move")
    .option("--all", "move all owners of the first shard to the second one")
    .option("--to-node <host:port>", "on Citus: move a whole shard to another server of the cluster")
    .addOption(json())
    .addHelpText(
      "after",
      examples(
        "parley shard move alice second",
        "parley shard move --all third second",
        "parley shard move third --to-node worker-2:5432",
      ),
    )
    .action(
      act(async (context, what: string, to: string | undefined, options: MoveOptions) =>
        (await verbs()).moveToShard(what, to, options, context),
      ),
    );
  shard
    .command("check")
    .description("find interrupted moves, rows that they left behind, and empty shards")
    .addOption(json())
    .action(act(async (context, options: JsonOption) => (await verbs()).checkShards(options, context)));
  shard.addHelpText(
    "after",
    examples("parley shard ls", "parley shard move alice second", "parley shard check"),
  );
}

/** Completion for shells. */
export function addCompletion(program: Command, act: Act): void {
  program
    .command("completion")
    .description("print a completion script for a shell")
    .addArgument(new Argument("<shell>").choices(shells))
    .addHelpText(
      "after",
      examples(
        "source <(parley completion bash)",
        "source <(parley completion zsh)",
        "parley completion fish | source",
      ),
    )
    .action(
      act(async (context, shell: Shell) =>
        (await import("../verbs/keeping/completion.js")).completion(shell, program, context),
      ),
    );
  program
    .command("complete-ids", { hidden: true })
    .action(act(async (context) => (await import("../verbs/keeping/completion.js")).completeIds(context)));
  program
    .command("complete-models", { hidden: true })
    .action(act(async (context) => (await import("../verbs/keeping/completion.js")).completeModels(context)));
}

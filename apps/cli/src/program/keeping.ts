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
    .description("serve the store: API, socket and page, until it is stopped")
    .option("--host <address>", "where to listen (PARLEY_HOST); beyond this machine only with a key")
    .option("--port <port>", "0 takes any that is free (PARLEY_PORT; default 4141)", port)
    .option("--insecure", "listen beyond this machine without keys: every caller gets full access")
    .option("--no-page", "without the page")
    .addOption(
      new Option("--drain <seconds>", "how long turns may finish their step at the end")
        .argParser(count)
        .default(20),
    )
    .addOption(
      new Option(
        "--log-level <level>",
        "the least that is logged; debug includes probes of health and figures",
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

/** The conversations as tools of other programs. */
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

/** Verbs that look after the installation. */
export function addKeeping(program: Command, act: Act): void {
  const keys = program.command("keys").description("API keys: make, list, revoke, recover");
  const verbs = () => import("../verbs/keeping/keys.js");
  keys
    .command("create")
    .description("make a key and show its secret, once")
    .option(
      "--scopes <list>",
      "of read, write, approve, admin, with commas (default: read,write; of the first key all)",
    )
    .addOption(new Option("--scope <list>", "the same").hideHelp())
    .addOption(json())
    .action(act(async (context, options: CreateKeyOptions) => (await verbs()).createKey(options, context)));
  keys
    .command("ls", { isDefault: true })
    .description("list them, without secrets")
    .addOption(json())
    .action(act(async (context, options: JsonOption) => (await verbs()).listKeys(options, context)));
  keys
    .command("rm")
    .description("revoke one")
    .argument("<key>", "its id, or the beginning of it")
    .action(
      act(async (context, word: string, options: object) =>
        (await verbs()).removeKey(word, options, context),
      ),
    );
  keys
    .command("recover")
    .description("make a key with all scopes on the store itself, when no key is left that may make one")
    .addOption(json())
    .action(act(async (context, options: JsonOption) => (await verbs()).recoverKey(options, context)));
  keys
    .command("logout")
    .description("end all logins that pages have made with one")
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
      "parley keys create --scopes read,approve   # decides what turns wait for, and writes nothing",
      "parley keys rm key_4f",
    ),
  );
  program
    .command("init")
    .description("write a commented configuration file, or a project with a chat page")
    .argument("[folder]", "where; the working folder when not given")
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
    .description("bring the store's schema up, as a server does when it starts; or move a store in a folder")
    .addOption(
      new Option(
        "--to <engine>",
        "move a store of PGlite, or of an older PostgreSQL, to a private PostgreSQL in the same folder",
      ).choices(["postgres"]),
    )
    .option("--older-bin <folder>", "with --to: the programs of the PostgreSQL that wrote the store")
    .option("--remove-old", "with --to: remove the files from before, once they are compared")
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
    .description("look for what is wrong: machine, configuration, providers, store")
    .option("--fix", "mend what can be mended safely")
    .option("--no-providers", "do not ask the providers")
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
    .description("shards of a store on several databases: list, add, move, check");
  const verbs = () => import("../verbs/keeping/shard.js");
  shard
    .command("ls", { isDefault: true })
    .description("list them, with the number of their owners")
    .addOption(json())
    .action(act(async (context, options: JsonOption) => (await verbs()).listShards(options, context)));
  shard
    .command("add")
    .description("prepare one that was added to the configuration, or let one take new owners again")
    .argument("<name>", "its name in store.shards")
    .addOption(json())
    .action(
      act(async (context, name: string, options: JsonOption) =>
        (await verbs()).addShard(name, options, context),
      ),
    );
  shard
    .command("move")
    .description("move an owner, or all of a shard, while it is used; again: end a move that did not end")
    .argument("<owner>", "whose conversations; with --all and --to-node: a shard")
    .argument("[shard]", "where to; where it is already: undo a move that did not end")
    .option("--all", "all owners of the shard that is named first")
    .option("--to-node <host:port>", "on Citus: a whole shard, to another server of the cluster")
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
    .description("look for moves that did not end, for rows that they left, and for empty shards")
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

import { type Command, Option } from "commander";
import type { AddWebhookOptions, DeliveriesOptions, ReplayOptions } from "../verbs/keeping/webhooks.js";
import { type Act, examples, type JsonOption, json, limit } from "./arguments.js";

/** Endpoints that events are posted to. */
export function addWebhooks(program: Command, act: Act): void {
  const webhooks = program.command("webhooks").description("webhooks: endpoints that events are posted to");
  const verbs = () => import("../verbs/keeping/webhooks.js");
  const named = (name: string, description: string) =>
    webhooks.command(name).description(description).argument("<webhook>", "its id, or the beginning of it");
  webhooks
    .command("ls", { isDefault: true })
    .alias("list")
    .description("list them, without secrets")
    .addOption(json())
    .action(act(async (context, options: JsonOption) => (await verbs()).listWebhooks(options, context)));
  webhooks
    .command("add")
    .description("register an endpoint and show its secret, once")
    .argument("<url>", "where events are posted to")
    .option(
      "--events <list>",
      "of input.requested, input.answered, turn.sealed, conversation.created, with commas (default: all)",
    )
    .option("--label <text>", "a name for people")
    .addOption(json())
    .action(
      act(async (context, url: string, options: AddWebhookOptions) =>
        (await verbs()).addWebhook(url, options, context),
      ),
    );
  named("rm", "remove one, with what it was to receive")
    .alias("remove")
    .action(
      act(async (context, word: string, options: object) =>
        (await verbs()).removeWebhook(word, options, context),
      ),
    );
  for (const enabled of [true, false]) {
    named(enabled ? "enable" : "disable", enabled ? "enable one again" : "disable one").action(
      act(async (context, word: string) => (await verbs()).switchWebhook(word, enabled, context)),
    );
  }
  named("test", "post one event to it, and say what came of it")
    .addOption(json())
    .action(
      act(async (context, word: string, options: JsonOption) =>
        (await verbs()).testWebhook(word, options, context),
      ),
    );
  const list = (name: string, description: string, state?: "dead") => {
    const command = named(name, description).addOption(limit("at most so many", 50)).addOption(json());
    if (state === undefined) {
      command.addOption(
        new Option("--state <state>", "only these").choices(["pending", "delivered", "dead"]),
      );
    }
    command.action(
      act(async (context, word: string, options: DeliveriesOptions) =>
        (await verbs()).listDeliveries(word, state === undefined ? options : { ...options, state }, context),
      ),
    );
  };
  list("deliveries", "what was reported to it and what became of it, newest first");
  list("dead", "what was given up", "dead");
  named("replay", "deliver again what was delivered or given up")
    .option("--dead", "what was given up")
    .option("--since <time>", "what happened from then on, as 2026-01-31T12:00:00Z")
    .option("--from <delivery>", "from this delivery on")
    .action(
      act(async (context, word: string, options: ReplayOptions) =>
        (await verbs()).replayWebhook(word, options, context),
      ),
    );
  webhooks.addHelpText(
    "after",
    examples(
      "parley webhooks add https://example.com/parley --events input.requested",
      "parley webhooks test wh_01",
      "parley webhooks replay wh_01 --dead",
    ),
  );
}

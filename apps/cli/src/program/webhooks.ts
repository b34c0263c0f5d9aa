import { type Command, Option } from "commander";
import type { AddWebhookOptions, DeliveriesOptions, ReplayOptions } from "../verbs/keeping/webhooks.js";
import { type Act, examples, type JsonOption, json, limit } from "./arguments.js";

/** Verbs for webhooks: endpoints that events are posted to. */
export function addWebhooks(program: Command, act: Act): void {
  const webhooks = program
    .command("webhooks")
    .description("manage webhooks: endpoints that events are posted to");
  const verbs = () => import("../verbs/keeping/webhooks.js");
  const named = (name: string, description: string) =>
    webhooks.command(name).description(description).argument("<webhook>", "its id, or the beginning of it");
  webhooks
    .command("ls", { isDefault: true })
    .alias("list")
    .description("list the webhooks, without secrets")
    .addOption(json())
    .action(act(async (context, options: JsonOption) => (await verbs()).listWebhooks(options, context)));
  webhooks
    .command("add")
    .description("register an endpoint and show its secret, once")
    .argument("<url>", "address that events are posted to")
    .option(
      "--events <list>",
      "any of input.requested, input.answered, turn.sealed, conversation.created, separated by commas (default: all)",
    )
    .option("--label <text>", "a name for people")
    .addOption(json())
    .action(
      act(async (context, url: string, options: AddWebhookOptions) =>
        (await verbs()).addWebhook(url, options, context),
      ),
    );
  named("rm", "remove a webhook and its pending deliveries")
    .alias("remove")
    .action(
      act(async (context, word: string, options: object) =>
        (await verbs()).removeWebhook(word, options, context),
      ),
    );
  for (const enabled of [true, false]) {
    named(enabled ? "enable" : "disable", enabled ? "enable a webhook again" : "disable a webhook").action(
      act(async (context, word: string) => (await verbs()).switchWebhook(word, enabled, context)),
    );
  }
  named("test", "post a test event to a webhook and show the result")
    .addOption(json())
    .action(
      act(async (context, word: string, options: JsonOption) =>
        (await verbs()).testWebhook(word, options, context),
      ),
    );
  const list = (name: string, description: string, state?: "dead") => {
    const command = named(name, description)
      .addOption(limit("maximum number of deliveries", 50))
      .addOption(json());
    if (state === undefined) {
      command.addOption(
        new Option("--state <state>", "only those in this state").choices(["pending", "delivered", "dead"]),
      );
    }
    command.action(
      act(async (context, word: string, options: DeliveriesOptions) =>
        (await verbs()).listDeliveries(word, state === undefined ? options : { ...options, state }, context),
      ),
    );
  };
  list("deliveries", "list the deliveries of a webhook and their states, newest first");
  list("dead", "list the deliveries that were given up", "dead");
  named("replay", "repeat deliveries that were made or given up")
    .option("--dead", "repeat those that were given up")
    .option("--since <time>", "repeat those of events since this time, as 2026-01-31T12:00:00Z")
    .option("--from <delivery>", "repeat this delivery and those after it")
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

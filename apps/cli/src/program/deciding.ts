import { type Command, Option } from "commander";
import { idHelp } from "../resolve-id.js";
import type { PendingOptions } from "../verbs/deciding/pending.js";
import type { AnswerOptions, ApproveOptions, DenyOptions } from "../verbs/deciding/respond.js";
import { type Act, examples, type JsonOption, json } from "./arguments.js";

/** Verbs that decide what turns wait for. */
export function addDeciding(program: Command, act: Act): void {
  const verbs = () => import("../verbs/deciding/respond.js");
  program
    .command("pending")
    .description("what waits for somebody: approvals, questions, tools of a caller")
    .argument("[conversation]", `only in this one: ${idHelp}`)
    .option("--full", "each with all of its arguments")
    .addOption(json())
    .addHelpText("after", examples("parley pending", "parley pending @ --full", "parley pending --json"))
    .action(
      act(async (context, word: string | undefined, options: PendingOptions) =>
        (await import("../verbs/deciding/pending.js")).pending(word, options, context),
      ),
    );
  program
    .command("approve")
    .description("allow a call that waits; it runs exactly as it was shown, or as it is edited")
    .argument("<request>", requestHelp)
    .addOption(
      new Option(
        "--always <where>",
        "also later calls of the tool, whatever their arguments: in this conversation, or in all of the owner",
      ).choices(["conversation", "owner"]),
    )
    .option("--edit <json>", "run it with these arguments instead")
    .option("--args-file <file>", "the same from a file; - is standard input")
    .option("--note <text>", "for the record")
    .addOption(json())
    .addHelpText(
      "after",
      examples(
        "parley approve 0192f",
        "parley approve 0192f --always conversation",
        `parley approve 0192f --edit '{"task": "feed the cat"}'`,
      ),
    )
    .action(
      act(async (context, word: string, options: ApproveOptions) =>
        (await verbs()).approve(word, options, context),
      ),
    );
  program
    .command("deny")
    .description("deny a call that waits, or an answer; the model receives the denial")
    .argument("<request>", requestHelp)
    .option("--note <text>", "the reason, for the model")
    .addOption(json())
    .addHelpText("after", examples('parley deny 0192f --note "not on Sundays"'))
    .action(
      act(async (context, word: string, options: DenyOptions) =>
        (await verbs()).deny(word, options, context),
      ),
    );
  program
    .command("answer")
    .description("answer a question, or hand in the output of a tool that the caller runs")
    .argument("<request>", requestHelp)
    .argument("[value...]", "the answer as text, one of its options, or JSON where the question wants that")
    .option("--json", "the answer is JSON, and so is what is printed")
    .option("--file <file>", "the answer is in a file; - is standard input")
    .option("--error", "the tool failed: the answer says how")
    .option("--note <text>", "for the record")
    .addHelpText(
      "after",
      examples(
        "parley answer 0192f green",
        `parley answer 0192f --json '{"colour": "green"}'`,
        "parley answer 0192f --file map.json --json",
        'parley answer 0192f --error "no such place"',
      ),
    )
    .action(
      act(async (context, word: string, words: readonly string[], options: AnswerOptions) =>
        (await verbs()).answer(word, words, options, context),
      ),
    );
  addGrants(program, act);
}

const requestHelp = "its id, or the beginning of it; `parley pending` lists them";

function addGrants(program: Command, act: Act): void {
  const verbs = () => import("../verbs/deciding/grants.js");
  const grants = program.command("grants").description("standing approvals: list, end");
  grants
    .command("ls", { isDefault: true })
    .description("list them")
    .addOption(json())
    .action(act(async (context, options: JsonOption) => (await verbs()).listGrants(options, context)));
  grants
    .command("rm")
    .description("end one: the next call asks again")
    .argument("<approval>", "its id, or the beginning of it")
    .action(
      act(async (context, word: string, options: object) =>
        (await verbs()).removeGrant(word, options, context),
      ),
    );
  grants.addHelpText("after", examples("parley grants", "parley grants rm 0192f"));
}

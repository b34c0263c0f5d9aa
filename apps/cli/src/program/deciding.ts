import { type Command, Option } from "commander";
import { idHelp } from "../resolve-id.js";
import type { PendingOptions } from "../verbs/deciding/pending.js";
import type { AnswerOptions, ApproveOptions, DenyOptions } from "../verbs/deciding/respond.js";
import { type Act, examples, type JsonOption, json } from "./arguments.js";

/** Verbs that respond to the requests of turns: approvals, questions, tools of a caller. */
export function addDeciding(program: Command, act: Act): void {
  const verbs = () => import("../verbs/deciding/respond.js");
  program
    .command("pending")
    .description("list open requests: approvals, questions, tools of a caller")
    .argument("[conversation]", `only of this conversation: ${idHelp}`)
    .option("--full", "show all arguments of each")
    .addOption(json())
    .addHelpText("after", examples("parley pending", "parley pending @ --full", "parley pending --json"))
    .action(
      act(async (context, word: string | undefined, options: PendingOptions) =>
        (await import("../verbs/deciding/pending.js")).pending(word, options, context),
      ),
    );
  program
    .command("approve")
    .description("approve a waiting call; it runs with the arguments shown, or with those of --edit")
    .argument("<request>", requestHelp)
    .addOption(
      new Option(
        "--always <where>",
        "approve later calls of the tool too, with any arguments: in this conversation, or in all of the owner's",
      ).choices(["conversation", "owner"]),
    )
    .option("--edit <json>", "run it with these arguments instead")
    .option("--args-file <file>", "read these arguments from a file; - is standard input")
    .option("--note <text>", "a note, stored with the decision")
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
    .description("deny a waiting call, or decline a question; the model receives the denial")
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
    .argument(
      "[value...]",
      "the answer as text, one of the question's options, or JSON if the question asks for it",
    )
    .option("--json", "the answer is JSON; print JSON as well")
    .option("--file <file>", "read the answer from a file; - is standard input")
    .option("--error", "the tool failed: the answer is its error")
    .option("--note <text>", "a note, stored with the answer")
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
  const grants = program.command("grants").description("list and end standing approvals");
  grants
    .command("ls", { isDefault: true })
    .description("list the standing approvals")
    .addOption(json())
    .action(act(async (context, options: JsonOption) => (await verbs()).listGrants(options, context)));
  grants
    .command("rm")
    .description("end a standing approval: the next call asks again")
    .argument("<approval>", "its id, or the beginning of it")
    .action(
      act(async (context, word: string, options: object) =>
        (await verbs()).removeGrant(word, options, context),
      ),
    );
  grants.addHelpText("after", examples("parley grants", "parley grants rm 0192f"));
}

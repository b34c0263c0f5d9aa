import { openKeyboard } from "../chat/keyboard.js";
import { CliError, exitCodes } from "../cli-error.js";

/** Options of a prompt for a line. */
export interface ReadLineOptions {
  /** Shows nothing of what is typed. */
  readonly isSecret?: boolean;
}

/** The longest line that is taken: longer than any key. */
const mostCharacters = 4_000;

/**
 * Asks the user at the terminal for one line, on standard error. A secret is not shown, not even by its length.
 * Rejects when the user interrupts.
 */
export function readLine(question: string, { isSecret = false }: ReadLineOptions = {}): Promise<string> {
  const { stdin: input, stderr: output } = process;
  return new Promise((resolve, reject) => {
    let line = "";
    const end = (finish: () => void) => {
      keyboard.close();
      output.write("\n");
      finish();
    };
    const erase = (characters: number) => {
      if (!isSecret) output.write("\b \b".repeat(characters));
    };
    const keyboard = openKeyboard(input, output, (text = "", key) => {
      if (key.name === "return" || key.name === "enter") return end(() => resolve(line.trim()));
      if (key.ctrl && key.name === "c") {
        return end(() => reject(new CliError("Interrupted.", { exitCode: exitCodes.interrupted })));
      }
      if (key.ctrl && key.name === "d" && line === "") return end(() => resolve(""));
      if (key.ctrl && key.name === "u") {
        erase(Array.from(line).length);
        line = "";
        return;
      }
      if (key.name === "backspace") {
        const characters = Array.from(line);
        if (characters.pop() !== undefined) erase(1);
        line = characters.join("");
        return;
      }
      // Control characters and the frame of a paste are none of the line.
      const typed = key.ctrl || key.meta || /^\P{Cc}+$/u.exec(text) === null ? "" : text;
      if (typed === "" || line.length + typed.length > mostCharacters) return;
      line += typed;
      if (!isSecret) output.write(typed);
    });
    // Only now does the terminal show nothing by itself: a user who answers at once must not see a secret, either.
    output.write(question);
  });
}

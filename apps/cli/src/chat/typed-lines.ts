import { appendFileSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { userStateFolder } from "../config/paths.js";

const mostKept = 500;

/** The lines that were typed in earlier chats. Losing them loses nothing else, so failures are silent. */
export interface TypedLines {
  readonly lines: readonly string[];
  add(line: string): void;
}

export function openTypedLines(file = join(userStateFolder(process.env), "chat-history.jsonl")): TypedLines {
  const lines = read(file).slice(-mostKept);
  return {
    lines,
    add(line) {
      try {
        mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
        appendFileSync(file, `${JSON.stringify(line)}\n`, { mode: 0o600 });
        const all = read(file);
        if (all.length > 2 * mostKept) {
          writeFileSync(
            file,
            all
              .slice(-mostKept)
              .map((each) => `${JSON.stringify(each)}\n`)
              .join(""),
            { mode: 0o600 },
          );
        }
      } catch {
        // A chat without a memory of its lines is still a chat.
      }
    },
  };
}

function read(file: string): string[] {
  try {
    return readFileSync(file, "utf8")
      .split("\n")
      .flatMap((line) => {
        if (line === "") return [];
        const value: unknown = JSON.parse(line);
        return typeof value === "string" ? [value] : [];
      });
  } catch {
    return [];
  }
}

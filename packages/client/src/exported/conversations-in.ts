import { ParleyRequestError } from "../requests/request-error.js";

/**
 * Splits an export of several conversations: each begins with its own `conversation` line. Lines are passed on as they
 * are; the server decides if they can be kept. Each part has to be read to its end before the next.
 */
export async function* conversationsIn(lines: AsyncIterable<string>): AsyncIterable<AsyncIterable<string>> {
  const source = lines[Symbol.asyncIterator]();
  let next = await nextLine(source);
  if (next === undefined) throw notAnExport("There is nothing in it to import.");
  if (!isStart(next)) {
    throw notAnExport(
      "This is not an export of Parley: its first line should be a conversation. `parley export --format jsonl` writes one.",
    );
  }
  while (next !== undefined) {
    const first: string = next;
    let ended = false;
    async function* part(): AsyncIterable<string> {
      yield `${first}\n`;
      for (;;) {
        next = await nextLine(source);
        if (next === undefined || isStart(next)) break;
        yield `${next}\n`;
      }
      ended = true;
    }
    yield part();
    // A caller that was refused in the middle did not read on: the rest of the part is skipped.
    while (!ended) {
      next = await nextLine(source);
      ended = next === undefined || isStart(next);
    }
  }
}

function notAnExport(message: string): ParleyRequestError {
  return new ParleyRequestError("invalid_request", message);
}

async function nextLine(source: AsyncIterator<string>): Promise<string | undefined> {
  for (;;) {
    const { value, done } = await source.next();
    if (done) return undefined;
    if (value.trim() !== "") return value;
  }
}

function isStart(line: string): boolean {
  if (!line.includes('"conversation"')) return false;
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === "object" && value !== null && Reflect.get(value, "type") === "conversation";
  } catch {
    return false;
  }
}

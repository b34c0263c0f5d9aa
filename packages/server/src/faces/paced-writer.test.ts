import { describe, expect, it } from "vitest";
import type { ResponseStream } from "../stream/response-stream.js";
import { PacedWriter } from "./paced-writer.js";

/** Creates a stream whose reader takes frames only when the test lets it. */
function slowStream() {
  const written: string[] = [];
  let resolveDrained = () => {};
  const stream = {
    isCrowded: true,
    write: (bytes: Buffer) => void written.push(String(bytes)),
    end: (lastWords?: Buffer) => void written.push(`end ${String(lastWords ?? "")}`),
    cut: () => void written.push("cut"),
    drained: () =>
      new Promise<void>((resolve) => {
        resolveDrained = resolve;
      }),
  };
  const take = async () => {
    resolveDrained();
    await new Promise((resolve) => setImmediate(resolve));
  };
  return { stream: stream as unknown as ResponseStream, written, take };
}

describe("a writer to a slow reader", () => {
  it("keeps the order of frames, and ends behind the last one", async () => {
    const { stream, written, take } = slowStream();
    const writer = new PacedWriter(stream);
    for (const frame of ["1", "2", "3"]) writer.write(Buffer.from(frame));
    writer.end(Buffer.from("last"));
    expect(written).toEqual([]);
    for (let count = 1; count <= 3; count += 1) {
      await take();
      expect(written.slice(0, 3)).toEqual(["1", "2", "3"].slice(0, count));
    }
    expect(written).toEqual(["1", "2", "3", "end last"]);
  });

  it("ends at once where nothing waits, also without last words", () => {
    const { stream, written } = slowStream();
    const writer = new PacedWriter(Object.assign(stream, { isCrowded: false }));
    writer.write(Buffer.from("1"));
    writer.end();
    expect(written).toEqual(["1", "end "]);
  });

  it("is cut off, not ended, when too much waits", () => {
    const { stream, written } = slowStream();
    const writer = new PacedWriter(stream);
    for (let count = 0; count <= 100_000; count += 1) writer.write(Buffer.alloc(0));
    expect(written).toContain("cut");
  });
});

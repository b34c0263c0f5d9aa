import { describe, expect, it } from "vitest";
import { Channel } from "./channel.js";

describe("Channel", () => {
  it("hands over what has arrived without waiting, in order with what is awaited", async () => {
    const channel = new Channel<number>();
    for (const value of [1, 2, 3]) channel.push(value);
    expect(channel.takeArrived()).toBe(1);
    expect(await channel.next()).toEqual({ value: 2, done: false });
    expect(channel.takeArrived()).toBe(3);
    expect(channel.takeArrived()).toBeUndefined();
    const waiting = channel.next();
    channel.push(4);
    expect(channel.takeArrived()).toBeUndefined();
    expect(await waiting).toEqual({ value: 4, done: false });
  });

  it("lets a writer continue once a reader that does not wait has caught up", async () => {
    const channel = new Channel<number>({ highWater: 4 });
    let drained: Promise<void> | undefined;
    for (let value = 0; drained === undefined; value += 1) drained = channel.push(value);
    while (channel.takeArrived() !== undefined);
    await drained;
    expect(channel.push(9)).toBeUndefined();
  });

  it("still gives what arrived before its end, and then ends", async () => {
    const channel = new Channel<string>();
    channel.push("last");
    channel.end();
    expect(channel.takeArrived()).toBe("last");
    expect(channel.takeArrived()).toBeUndefined();
    expect(await channel.next()).toEqual({ value: undefined, done: true });
  });
});

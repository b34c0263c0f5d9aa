import { emitKeypressEvents } from "node:readline";
import type { Key } from "../terminal/line-editor.js";

/** Source of key presses, until it is closed. */
export interface Keyboard {
  close(): void;
}

/** Frames what is pasted, so that a line break in it differs from Enter. */
const framePastes = "\u001B[?2004h";
const stopFramingPastes = "\u001B[?2004l";

/** Takes the keys of a terminal one by one. The terminal is put back as it was, also when the process ends. */
export function openKeyboard(
  input: NodeJS.ReadStream,
  output: NodeJS.WriteStream,
  onKey: (text: string | undefined, key: Key) => void,
): Keyboard {
  emitKeypressEvents(input);
  const wasRaw = input.isRaw;
  const restore = () => {
    input.setRawMode(wasRaw);
    output.write(stopFramingPastes);
  };
  input.setRawMode(true);
  output.write(framePastes);
  input.on("keypress", onKey);
  input.resume();
  process.once("exit", restore);
  return {
    close() {
      process.off("exit", restore);
      input.off("keypress", onKey);
      restore();
      input.pause();
    },
  };
}

import type { Uploads } from "@parley/client/files";
import { type ClipboardEvent, type ReactNode, type RefObject, useState } from "react";
import { PasteOffer } from "../files/attachment-list.js";
import { filesOf } from "../files/file-drop.js";
import type { ComposerFieldHandle } from "./composer-field.js";

/** A longer paste is offered as a file. */
const longPasteBytes = 10 * 1_024;

/** Attaches files that are pasted, and offers to attach a long text. */
export function usePaste(
  field: RefObject<ComposerFieldHandle | null>,
  uploads: Uploads,
): {
  readonly onPaste: (event: ClipboardEvent) => void;
  readonly offer: ReactNode;
  readonly forget: () => void;
} {
  const [pasted, setPasted] = useState<{ readonly text: string; readonly bytes: number }>();
  const onPaste = (event: ClipboardEvent) => {
    const data = event.clipboardData;
    const text = data.getData("text/plain");
    // Text that was copied from a document comes with a picture of itself.
    if (text === "") {
      const files = filesOf(data);
      if (files.length === 0) return;
      event.preventDefault();
      uploads.add(files);
      return;
    }
    const bytes = new TextEncoder().encode(text).length;
    // A field has only line feeds, whatever was pasted.
    setPasted(bytes > longPasteBytes ? { text: text.replaceAll(/\r\n?/g, "\n"), bytes } : undefined);
  };
  const accept = () => {
    if (pasted === undefined) return;
    if (field.current?.cut(pasted.text) === true)
      uploads.add([new File([pasted.text], "Pasted text.txt", { type: "text/plain" })]);
    setPasted(undefined);
    field.current?.focus();
  };
  const dismiss = () => {
    setPasted(undefined);
    field.current?.focus();
  };
  const offer =
    pasted === undefined ? null : <PasteOffer bytes={pasted.bytes} onAccept={accept} onDismiss={dismiss} />;
  return { onPaste, offer, forget: () => setPasted(undefined) };
}

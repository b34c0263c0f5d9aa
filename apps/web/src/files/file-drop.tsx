import { Paperclip } from "lucide-react";
import { useEffect, useState } from "react";
import { showToast } from "../app/toasts.js";

/** Takes files. */
type TakeFiles = (files: readonly File[]) => void;

/** The receivers of files that are dropped on the page: the newest one that is shown receives them. */
const targets: TakeFiles[] = [];

/** Lets a component receive the files that are dropped anywhere on the page, while it is shown. */
export function useDropTarget(take: TakeFiles): void {
  useEffect(() => {
    targets.push(take);
    return () => {
      targets.splice(targets.lastIndexOf(take), 1);
    };
  }, [take]);
}

/** Returns the files of a drop or of the clipboard. Folders are left out, and a note reports that. */
export function filesOf(data: DataTransfer): readonly File[] {
  const items = [...data.items].filter(({ kind }) => kind === "file");
  const isFolder = (item: DataTransferItem) => item.webkitGetAsEntry?.()?.isDirectory === true;
  const files = items.flatMap((item) => (isFolder(item) ? [] : (item.getAsFile() ?? [])));
  if (items.some(isFolder)) showToast({ message: "A folder cannot be attached: choose the files in it." });
  return files;
}

/**
 * Receives files that are dropped anywhere. A browser would leave the page for a file without a receiver, so that is
 * prevented wherever the file is dropped.
 */
export function FileDropLayer() {
  const [over, setOver] = useState(false);
  useEffect(() => {
    const has = (event: DragEvent) => event.dataTransfer?.types.includes("Files") === true;
    const onOver = (event: DragEvent) => {
      if (!has(event)) return;
      event.preventDefault();
      const isTaken = targets.length > 0;
      if (event.dataTransfer !== null) event.dataTransfer.dropEffect = isTaken ? "copy" : "none";
      setOver(isTaken);
    };
    const onLeave = (event: DragEvent) => {
      // Only the event that leaves the page itself has no related target.
      if (event.relatedTarget === null) setOver(false);
    };
    const onDrop = (event: DragEvent) => {
      if (!has(event) || event.dataTransfer === null) return;
      event.preventDefault();
      setOver(false);
      targets.at(-1)?.(filesOf(event.dataTransfer));
    };
    addEventListener("dragenter", onOver);
    addEventListener("dragover", onOver);
    addEventListener("dragleave", onLeave);
    addEventListener("drop", onDrop);
    return () => {
      removeEventListener("dragenter", onOver);
      removeEventListener("dragover", onOver);
      removeEventListener("dragleave", onLeave);
      removeEventListener("drop", onDrop);
    };
  }, []);
  if (!over) return null;
  return (
    <div className="pointer-events-none fixed inset-0 z-50 flex items-center justify-center bg-scrim p-6">
      <p className="flex items-center gap-3 rounded-xl border border-accent border-dashed bg-raised px-6 py-5 text-base font-medium shadow-pop">
        <Paperclip aria-hidden className="size-5 text-accent" /> Drop files to attach them
      </p>
    </div>
  );
}

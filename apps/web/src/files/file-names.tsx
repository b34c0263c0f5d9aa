import { sizeText } from "@parley/client/files";
import type { FileReference } from "@parley/wire";
import { Paperclip } from "lucide-react";
import { FileName } from "./file-chip.js";

/** The files of a message that is being sent, by their names. */
export function FileNames({
  files = [],
}: {
  readonly files?: readonly Omit<FileReference, "seq">[] | undefined;
}) {
  if (files.length === 0) return null;
  return (
    <ul aria-label="Files" className="my-0.5 flex flex-wrap gap-x-3 gap-y-0.5 text-soft">
      {files.map((file, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the files of a message never change places
        <li key={index} className="flex min-w-0 max-w-64 items-center gap-1">
          <Paperclip aria-hidden className="size-3 shrink-0" />
          <FileName name={file.name} className="text-xs" />
          <span className="shrink-0 text-xs text-faint">{sizeText(file.size)}</span>
        </li>
      ))}
    </ul>
  );
}

import { sizeText } from "@parley/client/files";
import { Paperclip } from "lucide-react";
import { useRef } from "react";
import { IconButton } from "../ui/icon-button.js";
import { fileBounds } from "./draft-files.js";

export interface AttachButtonProps {
  readonly onFiles: (files: readonly File[]) => void;
  readonly label?: string;
  readonly size?: "small" | "normal";
}

/** Opens the file picker. The server's limits are shown before a file is chosen. */
export function AttachButton({ onFiles, label = "Attach files", size = "small" }: AttachButtonProps) {
  const input = useRef<HTMLInputElement>(null);
  const bounds = fileBounds();
  const hint =
    bounds === undefined
      ? undefined
      : `Files for a message: at most ${bounds.messageFiles}, ${sizeText(bounds.fileBytes)} each and ${sizeText(bounds.messageFileBytes)} together`;
  return (
    <>
      <IconButton
        size={size}
        label={label}
        icon={<Paperclip aria-hidden />}
        {...(hint === undefined ? {} : { title: hint, "aria-description": hint })}
        onClick={() => input.current?.click()}
      />
      <input
        ref={input}
        type="file"
        multiple
        hidden
        aria-hidden
        tabIndex={-1}
        onChange={(event) => {
          const { files } = event.currentTarget;
          if (files !== null && files.length > 0) onFiles([...files]);
          // The same file may be chosen again.
          event.currentTarget.value = "";
        }}
      />
    </>
  );
}

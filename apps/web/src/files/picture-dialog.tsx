import { Dialog as Base } from "@base-ui/react/dialog";
import { sizeText } from "@parley/client/files";
import type { FileReference } from "@parley/wire";
import { X } from "lucide-react";
import { iconButtonClass } from "../ui/icon-button.js";
import { FileName } from "./file-chip.js";
import { shownName } from "./file-kinds.js";
import { DownloadLink } from "./message-files.js";
import { Picture } from "./picture.js";

export interface PictureDialogProps {
  readonly file: FileReference;
  readonly address: string | undefined;
  readonly onClose: () => void;
}

/** A picture as large as the window. Esc and a click beside it close it, and the focus returns. */
export function PictureDialog({ file, address, onClose }: PictureDialogProps) {
  const name = shownName(file.name);
  return (
    <Base.Root open onOpenChange={(open) => !open && onClose()}>
      <Base.Portal>
        <Base.Backdrop className="fixed inset-0 z-40 bg-scrim" />
        <Base.Popup className="fixed inset-2 z-50 flex flex-col overflow-hidden rounded-xl border border-line bg-raised text-ink shadow-pop outline-none sm:inset-8">
          <header className="flex items-center gap-2 border-b border-line py-1.5 pr-2 pl-4">
            <Base.Title render={<div />} className="min-w-0 flex-1" aria-label={name}>
              <FileName name={file.name} className="font-medium" />
            </Base.Title>
            <span className="shrink-0 text-xs text-faint">{sizeText(file.size)}</span>
            {address !== undefined && <DownloadLink address={address} file={file} />}
            <Base.Close aria-label="Close" className={iconButtonClass("small")}>
              <X aria-hidden />
            </Base.Close>
          </header>
          <div className="flex min-h-0 flex-1 items-center justify-center bg-sunken p-2">
            <Picture
              addresses={address === undefined ? [] : [address]}
              name={name}
              mediaType={file.mediaType}
              className="max-h-full max-w-full object-contain"
            />
          </div>
        </Base.Popup>
      </Base.Portal>
    </Base.Root>
  );
}

import { type FileOfMessage, fileAddress, sizeText } from "@parley/client/files";
import type { FileReference } from "@parley/wire";
import { Download } from "lucide-react";
import { lazy, Suspense, useState } from "react";
import { cx } from "../ui/cx.js";
import { iconButtonClass } from "../ui/icon-button.js";
import { FileChip } from "./file-chip.js";
import { hasFullView, isPicture, kindWord, shownName, thumbnailAddresses } from "./file-kinds.js";
import { Picture } from "./picture.js";

const PictureDialog = lazy(async () => ({ default: (await import("./picture-dialog.js")).PictureDialog }));

export interface MessageFilesProps {
  readonly conversationId: string;
  readonly files: readonly FileReference[];
  /** The side they are on: the user's or the answer's. */
  readonly align?: "start" | "end";
}

/** The files of a message: pictures as they are, others as cards. Each can be downloaded; pictures have a full view. */
export function MessageFiles({ conversationId, files, align = "start" }: MessageFilesProps) {
  const [shown, setShown] = useState<number>();
  if (files.length === 0) return null;
  const file = shown === undefined ? undefined : files[shown];
  const isShown = (each: FileReference) => isPicture(each) && fileAddress(conversationId, each) !== undefined;
  const list = (label: string, isListed: (each: FileReference) => boolean) =>
    files.some(isListed) && (
      <ul aria-label={label} className={cx("my-1 flex flex-wrap gap-2", align === "end" && "justify-end")}>
        {files.map((each, index) =>
          isListed(each) ? (
            // biome-ignore lint/suspicious/noArrayIndexKey: the files of a message never change places
            <li key={index} className={isShown(each) ? "max-w-full" : "w-full max-w-72 sm:w-auto"}>
              <MessageFile conversationId={conversationId} file={each} onOpen={() => setShown(index)} />
            </li>
          ) : null,
        )}
      </ul>
    );
  return (
    <>
      {list("Pictures", isShown)}
      {list("Files", (each) => !isShown(each))}
      {file !== undefined && (
        <Suspense fallback={null}>
          <PictureDialog
            file={file}
            address={fileAddress(conversationId, file)}
            onClose={() => setShown(undefined)}
          />
        </Suspense>
      )}
    </>
  );
}

function MessageFile({
  conversationId,
  file,
  onOpen,
}: {
  readonly conversationId: string;
  readonly file: FileReference;
  readonly onOpen: () => void;
}) {
  const name = shownName(file.name);
  const address = fileAddress(conversationId, file);
  if (isPicture(file) && address !== undefined) {
    return (
      <button
        type="button"
        aria-label={`Show ${name}`}
        title={name}
        onClick={onOpen}
        className="flex h-40 min-w-24 max-w-full items-center justify-center overflow-hidden rounded-lg border border-line bg-sunken transition-colors hover:border-line-strong"
      >
        <Picture
          addresses={thumbnailAddresses(conversationId, file)}
          name={name}
          mediaType={file.mediaType}
          width={file.width}
          height={file.height}
          className="h-full w-auto max-w-full object-cover sm:max-w-80"
        />
      </button>
    );
  }
  return (
    <FileChip
      name={file.name}
      mediaType={file.mediaType}
      note={`${kindWord(file.mediaType)}, ${sizeText(file.size)}`}
      actions={
        <>
          {hasFullView(file) && address !== undefined && (
            <button type="button" onClick={onOpen} className="px-2 text-xs font-medium text-accent">
              Show
            </button>
          )}
          {address !== undefined && <DownloadLink address={address} file={file} />}
        </>
      }
    />
  );
}

/** Downloads a file under its own name. */
export function DownloadLink({ address, file }: { readonly address: string; readonly file: FileOfMessage }) {
  const name = shownName(file.name);
  return (
    <a
      href={address}
      download={name}
      aria-label={`Download ${name}`}
      title="Download"
      className={iconButtonClass("small")}
    >
      <Download aria-hidden />
    </a>
  );
}

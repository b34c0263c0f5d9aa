import { sizeText, type Upload, type Uploads } from "@parley/client/files";
import { Paperclip, RotateCcw, X } from "lucide-react";
import { useEffect, useRef, useState } from "react";
import { IconButton } from "../ui/icon-button.js";
import { AttachButton } from "./attach-button.js";
import { FileChip } from "./file-chip.js";
import { isPicture, kindWord, shownName, thumbnailAddresses } from "./file-kinds.js";
import { Picture } from "./picture.js";

export interface AttachmentListProps {
  readonly uploads: Uploads;
  readonly list: readonly Upload[];
  /** The reason why they were not sent. */
  readonly problem: string | undefined;
  /** Called when a file was removed whose button had the focus. */
  readonly onRemoved: () => void;
}

/** The files of a message that is being written, with their progress. */
export function AttachmentList({ uploads, list, problem, onRemoved }: AttachmentListProps) {
  const said = useAnnouncement(list);
  return (
    <>
      <p aria-live="polite" className="sr-only">
        {said}
      </p>
      {list.length > 0 && (
        <ul
          aria-label="Attached files"
          className="flex max-h-[30dvh] flex-wrap items-start gap-2 overflow-y-auto px-3 pt-3"
        >
          {list.map((upload) => (
            <li key={upload.key} className="w-full sm:w-auto">
              <Attachment upload={upload} uploads={uploads} onRemoved={onRemoved} />
            </li>
          ))}
        </ul>
      )}
      {problem !== undefined && (
        <p role="alert" className="px-4 pt-2 text-sm text-warn">
          {problem}
        </p>
      )}
    </>
  );
}

function Attachment({
  upload,
  uploads,
  onRemoved,
}: {
  readonly upload: Upload;
  readonly uploads: Uploads;
  readonly onRemoved: () => void;
}) {
  const { key, name, status, info } = upload;
  const shown = shownName(name);
  const mediaType = info?.mediaType ?? "";
  const remove = () => {
    uploads.remove(key);
    onRemoved();
  };
  const isRunning = status === "uploading" || status === "waiting";
  const wrong = status === "failed" || status === "expired";
  return (
    <FileChip
      name={name}
      mediaType={mediaType}
      note={noteOf(upload)}
      tone={wrong ? "danger" : "plain"}
      picture={
        status === "ready" && info !== undefined && isPicture(info) ? (
          <Picture
            addresses={thumbnailAddresses("", info)}
            name=""
            mediaType={mediaType}
            className="size-10 object-cover"
          />
        ) : undefined
      }
      actions={
        <>
          {upload.retryable && status === "failed" && (
            <IconButton
              size="small"
              label={`Retry ${shown}`}
              icon={<RotateCcw aria-hidden />}
              onClick={() => uploads.retry(key)}
            />
          )}
          {status === "expired" && (
            <AttachButton
              label={`Attach ${shown} again`}
              onFiles={(files) => {
                uploads.remove(key);
                uploads.add(files);
              }}
            />
          )}
          <IconButton
            size="small"
            label={isRunning ? `Cancel ${shown}` : `Remove ${shown}`}
            icon={<X aria-hidden />}
            onClick={remove}
          />
        </>
      }
    >
      {isRunning && (
        <progress
          aria-label={`Upload of ${shown}`}
          max={1}
          value={shareOf(upload)}
          className="upload-progress absolute inset-x-0 bottom-0 h-0.5 w-full"
        />
      )}
    </FileChip>
  );
}

function shareOf({ sentBytes, size = 0 }: Upload): number {
  return size === 0 ? 0 : Math.min(1, sentBytes / size);
}

function noteOf(upload: Upload): string {
  const { status, size, info, error } = upload;
  switch (status) {
    case "waiting":
      return "Waits";
    case "uploading":
      return size === undefined ? "Uploading" : `${Math.round(shareOf(upload) * 100)} % of ${sizeText(size)}`;
    case "ready":
      return `${kindWord(info?.mediaType ?? "")}, ${sizeText(info?.size ?? 0)}`;
    case "expired":
      return "Expired: attach it again";
    case "failed":
      return error?.code === "network" ? "Not uploaded: connection lost" : (error?.message ?? "Not uploaded");
  }
}

/** Announces changes to a screen reader: once per file and outcome, not its progress. */
function useAnnouncement(list: readonly Upload[]): string {
  const before = useRef(new Map<string, Upload["status"]>());
  const [said, setSaid] = useState("");
  useEffect(() => {
    const news = list.flatMap((upload) => {
      const { key, name, status } = upload;
      if (before.current.get(key) === status) return [];
      if (status === "ready") return [`${shownName(name)} is attached`];
      if (status === "failed") return [`${shownName(name)}: ${noteOf(upload)}`];
      return status === "expired" ? [`${shownName(name)} has expired`] : [];
    });
    before.current = new Map(list.map(({ key, status }) => [key, status]));
    if (news.length > 0) setSaid(news.join(". "));
  }, [list]);
  return said;
}

/** Offers a long paste as a file. */
export function PasteOffer({
  bytes,
  onAccept,
  onDismiss,
}: {
  readonly bytes: number;
  readonly onAccept: () => void;
  readonly onDismiss: () => void;
}) {
  return (
    <div
      role="status"
      className="mx-3 mt-3 flex items-center gap-2 rounded-lg bg-sunken py-1 pr-1 pl-3 text-sm text-soft"
    >
      <span className="min-w-0 flex-1">You pasted {sizeText(bytes)} of text.</span>
      <button
        type="button"
        onClick={onAccept}
        className="inline-flex h-7 shrink-0 items-center gap-1.5 rounded-md px-2 text-xs font-medium text-accent hover:bg-raised touch:h-9"
      >
        <Paperclip aria-hidden className="size-3.5" /> Attach as a file
      </button>
      <IconButton size="small" label="Keep it as text" icon={<X aria-hidden />} onClick={onDismiss} />
    </div>
  );
}

import {
  FileArchive,
  FileAudio,
  FileCode2,
  FileImage,
  FileText,
  FileVideo,
  File as PlainFile,
} from "lucide-react";
import type { ReactElement, ReactNode } from "react";
import { cx } from "../ui/cx.js";
import { kindWord, shownName, splitName } from "./file-kinds.js";

const icons: Readonly<Record<string, ReactElement>> = {
  Image: <FileImage />,
  Audio: <FileAudio />,
  Video: <FileVideo />,
  PDF: <FileText />,
  Text: <FileText />,
  Code: <FileCode2 />,
  Archive: <FileArchive />,
};

/** The icon of a kind of file. */
export function FileIcon({ mediaType }: { readonly mediaType: string }) {
  return (
    <span aria-hidden className="text-soft [&_svg]:size-5">
      {icons[kindWord(mediaType)] ?? <PlainFile />}
    </span>
  );
}

/** The name of a file, in one line, with its extension visible. */
export function FileName({
  name,
  className,
}: {
  readonly name: string | undefined;
  readonly className?: string;
}) {
  const shown = shownName(name);
  const [start, end] = splitName(shown);
  return (
    <bdi title={shown} className={cx("flex min-w-0 text-sm", className)}>
      <span className="truncate whitespace-pre">{start}</span>
      {end !== "" && <span className="shrink-0 whitespace-pre">{end}</span>}
    </bdi>
  );
}

export interface FileChipProps {
  readonly name: string | undefined;
  readonly mediaType: string;
  /** A second line, such as its size. */
  readonly note: ReactNode;
  /** Shown in place of the icon. */
  readonly picture?: ReactNode;
  readonly actions?: ReactNode;
  readonly tone?: "plain" | "danger";
  readonly children?: ReactNode;
}

/** A file as a small card: its kind, and its actions. */
export function FileChip({
  name,
  mediaType,
  note,
  picture,
  actions,
  tone = "plain",
  children,
}: FileChipProps) {
  return (
    <div
      className={cx(
        "relative flex sm:w-[13.25rem] w-full items-center gap-2.5 overflow-hidden rounded-lg border bg-raised py-1.5 pr-1 pl-1.5",
        tone === "danger" ? "border-danger/50" : "border-line",
      )}
    >
      <span className="flex size-10 shrink-0 items-center justify-center overflow-hidden rounded-md bg-sunken">
        {picture ?? <FileIcon mediaType={mediaType} />}
      </span>
      <span className="min-w-0 flex-1">
        <FileName name={name} />
        <span className={cx("block text-xs", tone === "danger" ? "text-danger" : "truncate text-faint")}>
          {note}
        </span>
      </span>
      {actions !== undefined && <span className="flex shrink-0 items-center">{actions}</span>}
      {children}
    </div>
  );
}

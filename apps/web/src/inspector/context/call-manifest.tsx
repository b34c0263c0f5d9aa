import { sizeText } from "@parley/client/files";
import type { ContextManifest, ContextSegment, ShownFile } from "@parley/wire";
import { FileName } from "../../files/file-chip.js";
import { cx } from "../../ui/cx.js";
import { formatShare, formatTokens } from "../figures/figures.js";
import { type SegmentReuse, segmentReuse } from "./cache-verdict.js";
import { dropWords, partColors, partWords, transformWords } from "./context-words.js";
import { ManifestDifference } from "./manifest-difference.js";
import { SeqLink } from "./seq-link.js";
import { countSeqs } from "./seq-ranges.js";

export interface CallManifestProps {
  readonly conversationId: string;
  readonly manifest: ContextManifest;
  /** The request of the call before it. */
  readonly before?: ContextManifest | undefined;
  /** The model of the call before it, if it was another. */
  readonly modelBefore?: string | undefined;
}

/** The forms in which a model is given a file. */
const fileWords: Readonly<Record<ShownFile["as"], string>> = {
  image: "sent as an image",
  document: "sent as a document",
  text: "sent as text",
  note: "not sent, named in a line",
};

const reuseWords: Readonly<Record<SegmentReuse, string>> = {
  kept: "as before",
  partly: "changes within",
  new: "new",
};

/** The content of a call's request, what was left out and changed, and how it differs from the call before it. */
export function CallManifest({ conversationId, manifest, before, modelBefore }: CallManifestProps) {
  const reuse = segmentReuse(manifest);
  const total = Math.max(1, manifest.estimatedTokens);
  return (
    <>
      <Part title="Sent, in order">
        <div aria-hidden className="flex h-3 gap-px overflow-hidden rounded-[3px]">
          {manifest.segments.map((segment, index) => (
            <span
              key={segmentKey(segment, index)}
              className={cx("min-w-0.5", partColors[segment.kind], reuse[index] === "kept" && "opacity-45")}
              style={{ width: `${(segment.estimatedTokens / total) * 100}%` }}
            />
          ))}
        </div>
        <ol className="flex flex-col">
          {manifest.segments.map((segment, index) => (
            <li
              key={segmentKey(segment, index)}
              className="flex flex-wrap items-baseline gap-x-2 border-b border-line py-1 last:border-b-0"
            >
              <span
                aria-hidden
                className={cx("size-2.5 shrink-0 self-center rounded-[3px]", partColors[segment.kind])}
              />
              <span className="text-ink">{partWords[segment.kind]}</span>
              <SegmentPlace conversationId={conversationId} segment={segment} />
              <span className="tabular ml-auto text-soft">
                {`${formatTokens(segment.estimatedTokens)} (${formatShare(segment.estimatedTokens / total)})`}
              </span>
              {manifest.prefixKept !== undefined && <Reuse reuse={reuse[index] ?? "new"} />}
            </li>
          ))}
        </ol>
        <p className="text-xs text-faint">
          {`About ${formatTokens(manifest.estimatedTokens)} tokens by estimate, of a window of ${formatTokens(manifest.contextWindow)}.`}
        </p>
      </Part>
      {manifest.dropped.length > 0 && (
        <Part title="Left out">
          <ul className="flex flex-col gap-1.5">
            {manifest.dropped.map((range) => (
              <li key={`${range.reason}${range.firstSeq}`}>
                <SeqLink conversationId={conversationId} range={range} />{" "}
                <span className="text-soft">
                  {dropWords(range)}
                  {range.estimatedTokens !== undefined &&
                    ` About ${formatTokens(range.estimatedTokens)} tokens.`}
                </span>
              </li>
            ))}
          </ul>
        </Part>
      )}
      {manifest.files !== undefined && manifest.files.length > 0 && (
        <Part title="Files">
          <ul className="flex flex-col gap-1.5">
            {manifest.files.map((file, index) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: the list is part of a record that never changes
              <li key={index}>
                <FileName name={file.name} className="text-ink" />{" "}
                <span className="text-soft">
                  {`${sizeText(file.size)}, ${fileWords[file.as]}`}
                  {file.detail !== undefined && `: ${file.detail}`}
                </span>{" "}
                {file.seq !== undefined && (
                  <SeqLink
                    conversationId={conversationId}
                    range={{ firstSeq: file.seq, lastSeq: file.seq }}
                  />
                )}
              </li>
            ))}
          </ul>
        </Part>
      )}
      {manifest.transforms.length > 0 && (
        <Part title="Changed on the way">
          <ul className="flex flex-col gap-1.5">
            {manifest.transforms.map((transform, index) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: the list is part of a record that never changes
              <li key={index} className="text-soft">
                {transformWords(transform.kind)}
                {transform.firstSeq !== undefined && transform.lastSeq !== undefined && (
                  <>
                    {": "}
                    <SeqLink
                      conversationId={conversationId}
                      range={{ firstSeq: transform.firstSeq, lastSeq: transform.lastSeq }}
                    />
                  </>
                )}
                {transform.detail !== undefined && (
                  <span className="isolate-text text-faint"> ({transform.detail})</span>
                )}
              </li>
            ))}
          </ul>
        </Part>
      )}
      {before !== undefined && (
        <Part title="Difference to the call before">
          <ManifestDifference
            conversationId={conversationId}
            before={before}
            after={manifest}
            modelBefore={modelBefore}
          />
        </Part>
      )}
    </>
  );
}

function Part({ title, children }: { readonly title: string; readonly children: React.ReactNode }) {
  return (
    <div className="flex flex-col gap-1.5 text-sm">
      <h4 className="text-xs font-medium text-faint">{title}</h4>
      {children}
    </div>
  );
}

function Reuse({ reuse }: { readonly reuse: SegmentReuse }) {
  const tone = reuse === "kept" ? "text-good" : reuse === "partly" ? "text-warn" : "text-faint";
  return <span className={cx("w-24 text-right text-xs", tone)}>{reuseWords[reuse]}</span>;
}

function SegmentPlace({
  conversationId,
  segment,
}: {
  readonly conversationId: string;
  readonly segment: ContextSegment;
}) {
  const { firstSeq, lastSeq } = segment;
  if (firstSeq === undefined || lastSeq === undefined) return null;
  const range = { firstSeq, lastSeq };
  return <SeqLink conversationId={conversationId} range={range} note={`${countSeqs([range])} parts`} />;
}

function segmentKey(segment: ContextSegment, index: number): string {
  return segment.hash ?? `${segment.kind}${segment.firstSeq ?? index}`;
}

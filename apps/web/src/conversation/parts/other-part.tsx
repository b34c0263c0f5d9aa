import type { Chunk } from "@parley/wire";
import { Braces, ExternalLink, FileText } from "lucide-react";
import { BigText } from "../../ui/text/big-text.js";
import { safeHref } from "../markdown/safe-link.js";

/** Parts other than text, reasoning and tools: sources, data, and kinds that this page does not know yet. */
export function OtherPart({ chunk }: { readonly chunk: Chunk }) {
  switch (chunk.type) {
    case "source": {
      const href = safeHref(chunk.url);
      const title = chunk.title ?? chunk.url ?? "Source";
      return (
        <PartChip icon={<FileText aria-hidden />} text={title} {...(href === undefined ? {} : { href })} />
      );
    }
    case "data":
      return (
        <details className="my-2 rounded-lg border border-line bg-raised px-3 py-2 text-sm">
          <summary className="flex items-center gap-2 text-soft">
            <Braces aria-hidden className="size-4" /> Data
          </summary>
          <BigText mono text={JSON.stringify(chunk.data, null, 2) ?? ""} className="mt-2" />
        </details>
      );
    case "text":
    case "thinking":
    case "tool-call":
    case "tool-result":
    case "error":
    case "system":
      return null;
    default:
      return <p className="my-1 text-sm text-faint">A part of a kind that this page does not know.</p>;
  }
}

function PartChip({
  icon,
  text,
  href,
}: {
  readonly icon: React.ReactElement;
  readonly text: string;
  readonly href?: string;
}) {
  const look =
    "my-1 mr-1.5 inline-flex max-w-full items-center gap-1.5 rounded-md border border-line bg-raised px-2 py-1 text-sm [&_svg]:size-3.5 [&_svg]:shrink-0";
  const name = (
    <span dir="auto" className="isolate-text truncate">
      {text.slice(0, 200)}
    </span>
  );
  if (href === undefined) {
    return (
      <span className={look}>
        {icon}
        {name}
      </span>
    );
  }
  return (
    <a href={href} target="_blank" rel="noopener noreferrer nofollow" className={`${look} text-accent`}>
      {icon}
      {name}
      <ExternalLink aria-hidden />
    </a>
  );
}

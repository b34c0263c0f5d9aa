import { useState } from "react";
import { FileIcon } from "./file-chip.js";

export interface PictureProps {
  /** Its addresses, best first. */
  readonly addresses: readonly string[];
  /** The alternative text. Empty if its name is beside it. */
  readonly name: string;
  readonly mediaType: string;
  /** Its size in pixels, if known: then nothing moves when it loads. */
  readonly width?: number | undefined;
  readonly height?: number | undefined;
  readonly className?: string;
}

/** A picture from the server, or its icon if it cannot be shown. */
export function Picture({ addresses, name, mediaType, width, height, className }: PictureProps) {
  const [broken, setBroken] = useState<readonly string[]>([]);
  const address = addresses.find((each) => !broken.includes(each));
  if (address === undefined) return <FileIcon mediaType={mediaType} />;
  return (
    <img
      src={address}
      alt={name}
      width={width}
      height={height}
      loading="lazy"
      decoding="async"
      draggable={false}
      onError={() => setBroken([...broken, address])}
      className={className}
    />
  );
}

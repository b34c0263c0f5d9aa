import { useState } from "react";
import { FileIcon } from "./file-chip.js";

export interface PictureProps {
  /** Its addresses, best first. */
  readonly addresses: readonly string[];
  /** The text for those who do not see it. Empty where its name stands beside it. */
  readonly name: string;
  readonly mediaType: string;
  /** Its pixels, where they are known: then nothing moves when it comes. */
  readonly width?: number | undefined;
  readonly height?: number | undefined;
  readonly className?: string;
}

/** A picture of the server's, or its icon where it cannot be shown. */
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

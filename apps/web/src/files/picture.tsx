import { useState } from "react";
import { FileIcon } from "./file-chip.js";

export interface PictureProps {
  readonly address: string | undefined;
  /** What it shows, for those who do not see it. Empty where its name stands beside it. */
  readonly name: string;
  readonly mediaType: string;
  readonly className?: string;
}

/** A picture of the server's, or its icon where it cannot be shown. */
export function Picture({ address, name, mediaType, className }: PictureProps) {
  const [broken, setBroken] = useState<string>();
  if (address === undefined || broken === address) return <FileIcon mediaType={mediaType} />;
  return (
    <img
      src={address}
      alt={name}
      loading="lazy"
      decoding="async"
      draggable={false}
      onError={() => setBroken(address)}
      className={className}
    />
  );
}

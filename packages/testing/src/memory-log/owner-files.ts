/** The bytes of a file. */
export interface Blob {
  readonly number: number;
  /** Absent while it is being uploaded. */
  hash?: string;
  size: number;
  /** Null for a piece that is stored elsewhere. */
  readonly pieces: (Uint8Array | null)[];
  readonly derived: Map<string, Uint8Array>;
}

export interface Upload {
  readonly id: string;
  blob: Blob;
  expiresAt: number;
  isFinished: boolean;
  name: string;
  mediaType: string;
}

/** An owner's files. */
export interface OwnerFiles {
  readonly blobs: Map<number, Blob>;
  readonly byHash: Map<string, Blob>;
  readonly uploads: Map<string, Upload>;
  secret?: string;
}

export function noFiles(): OwnerFiles {
  return { blobs: new Map(), byHash: new Map(), uploads: new Map() };
}

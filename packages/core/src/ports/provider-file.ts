/** A file that a model may be shown. */
export interface ProviderFile {
  readonly mediaType: string;
  /** Bytes. */
  readonly size: number;
  readonly filename?: string;
  /** Pixels, if they are known. */
  readonly width?: number;
  readonly height?: number;
}

/**
 * The form in which a model is shown a file: as an image, as a document (a PDF), as text, or as a line that gives the
 * reason it is not shown. `tokens` is an estimate by the provider's published rule.
 */
export type FileForm =
  | { readonly as: "image" | "document" | "text"; readonly tokens: number }
  | { readonly as: "note"; readonly reason: string };

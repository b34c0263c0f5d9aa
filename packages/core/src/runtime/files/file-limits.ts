const hourMs = 60 * 60_000;
const megabyte = 2 ** 20;

/** Limits of files: sizes, and the time that bytes without a reference are kept. */
export interface FileLimits {
  /** Bytes of one file. `too_large` */
  readonly fileBytes: number;
  /** Files of one message. `too_large` */
  readonly messageFiles: number;
  /** Bytes of the files of one message together. `too_large` */
  readonly messageFileBytes: number;
  /**
   * Bytes of all files of one request to a model. The newest ones are sent; the others are mentioned to the model.
   */
  readonly requestFileBytes: number;
  /** Characters of the text of a file that a model is given in its place. */
  readonly shownCharacters: number;
  /** Bytes of all files of one owner; the same bytes count once. `limit_exceeded` */
  readonly ownerBytes: number;
  /** Milliseconds that a finished upload is kept until a message refers to it. */
  readonly unsentMs: number;
  /** Milliseconds without progress after which an unfinished upload is dropped. */
  readonly stalledMs: number;
  /** Milliseconds that a signed address is valid, by default and at most. */
  readonly addressMs: number;
  readonly longestAddressMs: number;
  /** Milliseconds between two collections of a node, and maximum number of files that each removes. */
  readonly sweepMs: number;
  readonly sweepFiles: number;
}

/** Default limits of files. */
export const defaultFileLimits: FileLimits = {
  fileBytes: 100 * megabyte,
  messageFiles: 20,
  messageFileBytes: 200 * megabyte,
  requestFileBytes: 20 * megabyte,
  shownCharacters: 60_000,
  ownerBytes: 10 * 1024 * megabyte,
  unsentMs: 24 * hourMs,
  stalledMs: hourMs,
  addressMs: 5 * 60_000,
  longestAddressMs: hourMs,
  sweepMs: 60_000,
  sweepFiles: 50,
};

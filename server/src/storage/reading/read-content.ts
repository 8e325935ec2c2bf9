/** A file of a directory. */
export interface ReadFile {
  /** From the directory, without `./`; it is a stranger's. */
  readonly path: string;
  readonly bytes: Buffer;
}

/** The content of an address. */
export type ReadContent =
  | {
      readonly kind: 'file';
      readonly bytes: Buffer;
      readonly mediaType: string;
    }
  | { readonly kind: 'directory'; readonly files: readonly ReadFile[] };

/** Limits of the bytes of one content. */
export interface ContentLimits {
  readonly fileBytes: number;
  readonly directoryBytes: number;
  readonly directoryEntries: number;
}

/** A place in a list that is in order of a time and an id, the latest first. */
export interface ListPosition {
  /** Microseconds since 1970, as exactly as the database has them. */
  timeUs: bigint;
  id: string;
}

/** Which part of a list is to be read. */
export interface ListRange {
  limit: number;
  /** Items that are skipped, and read for it. */
  offset: number;
  /** The part starts after this place; earlier rows are not read. */
  after?: ListPosition | undefined;
}

/** How far a list is known when it is counted. */
export interface ShownPart {
  /** Items up to {@link ShownPart.after}; 0 where the list is counted from its beginning. */
  seen: number;
  after: ListPosition | undefined;
}

/** How many items a list has. */
export interface ListCount {
  total: number;
  /** They were not counted to the end. */
  isMinimum: boolean;
}

/** SQL of a time column's value as {@link ListPosition.timeUs}. */
export const microsecondsOf = (column: string): string => `(extract(epoch from ${column}) * 1000000)::bigint`;

/** SQL of the time that a parameter has in microseconds. */
export const timeOfMicroseconds = (parameter: string): string =>
  `(timestamptz 'epoch' + ${parameter}::bigint * interval '1 microsecond')`;

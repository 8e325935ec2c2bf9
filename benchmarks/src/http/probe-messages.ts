/** A query as a server sent it. */
export interface RecordedQuery {
  text: string;
  values: unknown[];
}

/** Where a server's database is. */
export interface DatabaseAddress {
  host: string;
  port: number;
  user: string | undefined;
  password: string | null | undefined;
  database: string | undefined;
}

/** What a measured process is asked. */
export type ProbeQuestion = { probe: 'cpu' } | { probe: 'record' } | { probe: 'recorded' };

/** What it answers. */
export type ProbeAnswer =
  | { probe: 'cpu'; cpuMicroseconds: number }
  | { probe: 'record' }
  | { probe: 'recorded'; queries: RecordedQuery[]; database: DatabaseAddress | undefined };

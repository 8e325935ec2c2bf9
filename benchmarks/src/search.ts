import { createListingRepository } from '@agent-rental/server/listings';
import { openTestDatabase, type TemporaryDatabase } from '@agent-rental/server/testing';
import { atLeast, median, percentile, round, type Findings, type Row, type Suite } from './report.js';
import { queryKinds } from './search/kinds.js';
import { createPlainListings, plainQuery, type Query } from './search/plain.js';
import { seedListings } from './search/seed.js';

const LISTINGS = Number(process.env['BENCH_LISTINGS'] ?? 1_000_000);
/** The least rounds and time of a kind. One disturbance is not the p95 of so many rounds. */
const MEASURED = { rounds: 21, ms: 10_000 } as const;
/** The warm-up of a kind: the engine compiles its code, PostgreSQL keeps its plans, and all seven examples run. */
const WARM_UP = { rounds: 7, ms: 1_000 } as const;

/** Search against the plain `count(*) over ()` query, query by query, on the same rows. */
export const suite: Suite = {
  name: 'search',
  summary: 'search over a million listings, against a plain query with count(*) over ()',
  async run(progress) {
    // On TEST_DATABASE_URL if it is set, else on the embedded PostgreSQL.
    const database = await openTestDatabase();
    try {
      return await measure(database, progress);
    } finally {
      await database.close();
    }
  },
};

interface Timings {
  search: number[];
  plain: number[];
}

async function measure(database: TemporaryDatabase, progress: (line: string) => void): Promise<Findings> {
  const connection = await database.pool.connect();
  await seedListings(connection, LISTINGS, progress);
  await createPlainListings(connection);
  progress('plain listings and their indexes');
  await connection.query('reset all; set jit = off');
  const { rows: settings } = await connection.query<Record<string, string>>(
    `select current_setting('server_version') as postgresql, current_setting('shared_buffers') as shared_buffers`,
  );
  const repository = createListingRepository(database);
  const kinds = await queryKinds(connection);

  const rows: Row[] = [];
  const all: Timings = { search: [], plain: [] };
  let slower = 0;
  for (const { kind, queries } of kinds) {
    // In turns, so that the machine's other load affects both. The first one changes.
    const once = async (round: number): Promise<{ search: number; plain: number }> => {
      const query = queries[round % queries.length] as Query;
      const search = () => timed(() => repository.search(query));
      const plain = () => timed(() => connection.query<{ total: bigint }>(plainQuery(query)));
      const isSearchFirst = Math.floor(round / queries.length) % 2 === 0;
      const first = isSearchFirst ? undefined : await plain();
      const found = await search();
      const expected = first ?? (await plain());
      requireSameTotal(kind, query, found.value.total, expected.value.rows);
      return { search: found.ms, plain: expected.ms };
    };
    await repeat(once, WARM_UP);
    const rounds = await repeat(once, MEASURED);
    const timings = timingsOf(rounds);
    // The same number of rounds of each kind.
    const some = timingsOf(evenly(rounds, MEASURED.rounds));
    all.search.push(...some.search);
    all.plain.push(...some.plain);
    const row = toRow(kind, timings);
    if (Math.max(row.p50_ms / row.plain_p50_ms, row.p95_ms / row.plain_p95_ms) > 1) slower += 1;
    rows.push(row);
    progress(`${kind}: ${row.p50_ms} / ${row.p95_ms} ms, plain ${row.plain_p50_ms} / ${row.plain_p95_ms} ms`);
  }
  rows.push(toRow('all kinds', all));
  connection.release();
  return {
    setting: { listings: LISTINGS, ...settings[0] },
    rows,
    targets: [
      atLeast(
        'p95 of the plain query over p95 of search, all kinds',
        percentile(all.plain, 95) / percentile(all.search, 95),
        30,
        'times',
      ),
      atLeast(
        'kinds of query that are no slower than the plain one',
        kinds.length - slower,
        kinds.length,
        'kinds',
      ),
    ],
  };
}

/** Repeats for at least this many rounds and this much time. */
async function repeat<T>(
  once: (round: number) => Promise<T>,
  atLeastThese: { rounds: number; ms: number },
): Promise<T[]> {
  const startedAt = performance.now();
  const values: T[] = [];
  while (values.length < atLeastThese.rounds || performance.now() - startedAt < atLeastThese.ms)
    values.push(await once(values.length));
  return values;
}

/** Picks values evenly from the list. */
function evenly<T>(values: readonly T[], count: number): T[] {
  return values.filter(
    (_, index) =>
      Math.floor((index * count) / values.length) !== Math.floor(((index + 1) * count) / values.length),
  );
}

function timingsOf(rounds: readonly { search: number; plain: number }[]): Timings {
  return { search: rounds.map(({ search }) => search), plain: rounds.map(({ plain }) => plain) };
}

async function timed<T>(work: () => Promise<T>): Promise<{ value: T; ms: number }> {
  const startedAt = performance.now();
  const value = await work();
  return { value, ms: performance.now() - startedAt };
}

/** Checks the search's total. After the last page the plain query has no row with its total. */
function requireSameTotal(kind: string, query: Query, total: number, rows: { total: bigint }[]): void {
  const expected = rows[0] ? Number(rows[0].total) : query.offset === 0 ? 0 : total;
  if (total !== expected) {
    throw new Error(`${kind}: ${JSON.stringify(query)} has ${expected} listings; the search says ${total}.`);
  }
}

function toRow(kind: string, { search, plain }: Timings) {
  return {
    kind,
    p50_ms: round(median(search)),
    p95_ms: round(percentile(search, 95)),
    plain_p50_ms: round(median(plain)),
    plain_p95_ms: round(percentile(plain, 95)),
    samples: search.length,
  };
}

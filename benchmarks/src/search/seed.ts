/** A `pg` connection to PostgreSQL. */
export interface Connection {
  query(query: string | { text: string; values: unknown[] }): Promise<{ rows: unknown[] }>;
}

/** All values depend on the row's number and this seed alone, so that every machine has the same rows. */
const SEED = 20_260_101;
const WORDS = 50_000;
const CREATORS = 100_000;

/** The most frequent words of the vocabulary. All others are made of syllables. */
const FREQUENT_WORDS = `report invoice contract code research sales review market data customer
  summary email legal finance content price product risk audit expense`.split(/\s+/);

/** A number in [0, 1) for the row `i` and the purpose `k`. */
const uniform = (k: number | string) => `bench_uniform(i, ${k})`;
/** A whole number from 1 to `most` by Zipf's law, like the frequency of words and the listings of creators. */
const zipf = (k: number | string, most: number) => `floor(exp(${uniform(k)} * ln(${most})))::integer`;
const pick = (k: number, values: string) =>
  `(array[${values}])[1 + floor(${uniform(k)} * array_length(array[${values}], 1))::integer]`;
const words = (first: number, count: number) => `(select string_agg(
    (select word from bench_words where rank = ${zipf('k', WORDS)}), ' ' order by k)
  from generate_series(${first}, ${first + count - 1}) k)`;

const SYLLABLE = (n: string) =>
  `substr('bdfgklmnprstvz', 1 + (${n}) % 70 / 5, 1) || substr('aeiou', 1 + (${n}) % 5, 1)`;

/** The sum of ratings, and their number. */
const RATINGS = `case when ${uniform(208)} < 0.6 then 0 else ceil(${zipf(209, 1_000)} * (3 + 2 * ${uniform(210)})) end,
      case when ${uniform(208)} < 0.6 then 0 else ${zipf(209, 1_000)} end`;

/** Fills an empty, migrated database with `rows` listings and their search tables. */
export async function seedListings(
  client: Connection,
  rows: number,
  progress: (line: string) => void,
): Promise<void> {
  const step = async (name: string, ...statements: string[]) => {
    const startedAt = performance.now();
    for (const statement of statements) await client.query(statement);
    progress(`${name}: ${((performance.now() - startedAt) / 1000).toFixed(0)} s`);
  };
  await step(
    'vocabulary and creators',
    `set jit = off`,
    `set work_mem = '256MB'`,
    `set maintenance_work_mem = '512MB'`,
    `create unlogged table bench_words (rank integer primary key, word text not null)`,
    `insert into bench_words select rank, coalesce((array['${FREQUENT_WORDS.join("','")}'])[rank],
      ${SYLLABLE('n')} || ${SYLLABLE('n / 70')} || ${SYLLABLE('n / 4900')} || 'n')
      from generate_series(1, ${WORDS}) rank, lateral (select rank * 7919 % 343000 as n) scattered`,
    `analyze bench_words`,
    `create function bench_uniform(i bigint, k integer) returns float8 language sql immutable parallel safe as $$
      select (hashint8extended(i, ${SEED} + k) & 9007199254740991)::float8 / 9007199254740992 $$`,
    `insert into creators (wallet) select 'creator' || i from generate_series(1, ${CREATORS}) i`,
    // One index build at the end is faster than a trigger per row.
    `alter table listings disable trigger user`,
  );
  await step(
    `${rows} listings`,
    `insert into listings (id, creator, title, description, category, rental_model, price_lamports,
      min_deposit_lamports, status, address, metadata_uri, sample_output, version_id, review_state,
      run_count, completed_count, rating_sum, review_count, ranked_rating_sum, ranked_review_count, published_at, updated_at)
    select 'agent-' || i || '-aaaaaa', 'creator' || ${zipf(200, CREATORS)},
      initcap(${words(0, 3)}), ${words(10, 25)} || '.',
      array[(array['finance', 'legal', 'coding', 'research', 'sales', 'content'])[1 + floor(${uniform(201)} ^ 1.5 * 6)::integer]],
      ${pick(202, "'per_query', 'per_query', 'subscription', 'one_time'")},
      case when ${uniform(203)} < 0.8
        then ${pick(204, '10, 15, 20, 25, 50, 75')} * (10 ^ (4 + floor(${uniform(205)} * 6)))::bigint
        else 1000 + floor(exp(${uniform(204)} * ln(2e10)))::bigint end,
      0, ${pick(206, [...Array.from({ length: 22 }, () => "'active'"), "'paused'", "'closed'"].join(', '))},
      'address' || i, 'ipfs://baguqeera' || md5(i::text) || md5(i::text),
      '["An example of an answer of the agent to some question."]', gen_random_uuid(), 'approved',
      ${zipf(207, 100_000)}, floor(${zipf(207, 100_000)} * 0.9),
      ${RATINGS}, ${RATINGS},
      timestamptz '2025-01-01' + interval '1 day' * 700 * ${uniform(211)}, timestamptz '2027-01-01'
    from generate_series(1, ${rows}) i`,
  );
  const found = await client.query(
    `select indexname as name, indexdef as definition from pg_indexes
      where tablename in ('listing_search', 'search_terms') and indexdef not like '%UNIQUE%'`,
  );
  const indexes = found.rows as { name: string; definition: string }[];
  await step(
    'search tables',
    ...indexes.map(({ name }) => `drop index ${name}`),
    `select rebuild_listing_search()`,
    `alter table listings enable trigger user`,
  );
  await step('their indexes', ...indexes.map(({ definition }) => definition));
  await step('vacuum', 'vacuum analyze');
}

import { setTimeout as sleep } from 'node:timers/promises';
import { isApiError } from '@agent-rental/sdk';
import type { CliEnvironment } from '../../cli-environment.js';
import { limitOf, secondOf } from '../../lists.js';
import { connect, type Connected } from '../../marketplace.js';
import type { MarketplaceOptions } from '../../options.js';
import { listingOf } from '../../project/registrations.js';
import { report } from '../../report.js';

const POLL_MS = 2_000;
/** Most runs of one page. */
const PAGE = 100;
/** Each poll reads this far back, because the service may record a run after a later run. */
const OVERLAP_MS = 60_000;
/** Most pages of one poll. */
const MAX_PAGES = 20;

type Page = Awaited<ReturnType<Connected['client']['listAgentRuns']>>;
type Run = Page['runs'][number];

/** `agent-rental logs`: the results of an own listing's runs; with `--follow` also new runs, until Ctrl-C. */
export async function logsCommand(
  named: string | undefined,
  options: MarketplaceOptions & { follow?: true; limit?: string },
  environment: CliEnvironment,
): Promise<void> {
  const limit = limitOf(options);
  const { client, url } = connect(options, environment);
  const id = listingOf(named, environment.folder, url);
  const page = await client.listAgentRuns(id, { limit }, { signal: environment.signal });
  if (options.follow !== true) {
    const none = page.runs.length === 0 ? [`${id} has had no runs.`] : [];
    report(options, environment, page, [...none, ...page.runs.toReversed().flatMap(linesOf)]);
    return;
  }
  const tell = (run: Run) => {
    for (const line of options.json === true ? [JSON.stringify(run)] : linesOf(run)) environment.out(line);
  };
  try {
    await follow(page, tell, (cursor) => nextPage(client, id, cursor, environment), environment);
  } catch (error) {
    // Only Ctrl-C ends this loop.
    if (!environment.signal.aborted) throw error;
  }
}

/** Prints each ended run once, in the order of the runs' start. */
async function follow(
  first: Page,
  tell: (run: Run) => void,
  read: (cursor: string | undefined) => Promise<Page | undefined>,
  { signal }: CliEnvironment,
): Promise<void> {
  let told = new Set<string>();
  /** Start of the oldest run that each poll still reads. */
  let since = first.runs.at(-1)?.created_at ?? '';
  let pages = [first];
  for (;;) {
    const runs = pages.flatMap((page) => page.runs).filter(({ created_at: at }) => at >= since);
    for (const run of runs.toReversed()) {
      if (run.status === 'running' || told.has(run.run_id)) continue;
      told.add(run.run_id);
      tell(run);
    }
    const oldest = runs.findLast(({ status }) => status === 'running') ?? runs[0];
    if (oldest !== undefined) {
      const overlap = new Date(Date.parse(oldest.created_at) - OVERLAP_MS).toISOString();
      if (overlap > since) since = overlap;
      // Forget runs before that time: they are not read again.
      const kept = runs.filter((run) => told.has(run.run_id) && run.created_at >= since);
      told = new Set(kept.map(({ run_id: id }) => id));
    }
    await sleep(POLL_MS, undefined, { signal });
    pages = [];
    for (let cursor: string | undefined, more = true; more && pages.length < MAX_PAGES;) {
      const page = await read(cursor);
      if (page === undefined) break;
      pages.push(page);
      cursor = page.next_cursor;
      more = cursor !== undefined && (page.runs.at(-1)?.created_at ?? '') >= since;
    }
  }
}

/** A page of runs, or none while the marketplace is away. The next page has the missed runs. */
async function nextPage(
  client: Connected['client'],
  id: string,
  cursor: string | undefined,
  { signal, err }: CliEnvironment,
): Promise<Page | undefined> {
  try {
    const query = { limit: PAGE, ...(cursor === undefined ? {} : { cursor }) };
    return await client.listAgentRuns(id, query, { signal });
  } catch (error) {
    const isAway = isApiError(error) ? error.status >= 500 : (error as Error).name === 'ConnectionError';
    if (signal.aborted || !isAway) throw error;
    err('The marketplace does not answer; trying again');
    return undefined;
  }
}

/** A run in lines of 80 columns. */
function linesOf({
  run_id: id,
  status,
  version,
  duration_ms: duration,
  created_at: at,
  failure,
}: Run): string[] {
  const seconds = duration === null ? '' : `${(duration / 1000).toFixed(1)} s`;
  const first = `${secondOf(at)} ${status.padEnd(11)} ${seconds.padStart(7)} v${version} ${id}`;
  return failure === null ? [first] : [first, `  ${failure.class}: ${failure.message}`];
}

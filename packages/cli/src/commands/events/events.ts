import { EVENT_NAMES, type EventName, type WalletEvent } from '@agent-rental/sdk';
import type { CliEnvironment } from '../../cli-environment.js';
import { UsageError } from '../../errors.js';
import { limitOf, secondOf } from '../../lists.js';
import { connect } from '../../marketplace.js';
import type { MarketplaceOptions } from '../../options.js';
import { report } from '../../report.js';

/** `agent-rental events`: the latest events of the wallet, or those after a cursor; with `--follow` new ones, until Ctrl-C. */
export async function eventsCommand(
  options: MarketplaceOptions & { follow?: true; types?: string; after?: string; limit?: string },
  environment: CliEnvironment,
): Promise<void> {
  const limit = limitOf(options);
  const types = eventNamesOf(options.types, '--types');
  const { after } = options;
  const { client } = connect(options, environment);
  const { signal, out } = environment;
  if (options.follow === true) {
    for await (const event of client.events({ after, types, signal })) {
      out(options.json === true ? JSON.stringify(event) : lineOf(event));
    }
    return;
  }
  const query = {
    types: types?.join(','),
    limit,
    ...(after === undefined ? { order: 'newest' as const } : { after }),
  };
  const page = await client.listEvents(query, { signal });
  const shown = after === undefined ? page.events.toReversed() : page.events;
  const lines = shown.length === 0 ? ['There are no events.'] : shown.map(lineOf);
  report(options, environment, page, lines);
}

/** The names of events in an option, with commas between them. @throws UsageError for an unknown one. */
export function eventNamesOf(text: string | undefined, option: string): EventName[] | undefined {
  return text?.split(',').map((given) => {
    const name = EVENT_NAMES.find((known) => known === given.trim());
    if (name !== undefined) return name;
    throw new UsageError(`${option} takes names with commas between them: ${EVENT_NAMES.join(', ')}.`);
  });
}

/** The name of an event as words, for instance `price changed`. */
export const inWords = (name: string): string => name.replaceAll(/[._]/g, ' ');

const lineOf = ({
  created_at: at,
  name,
  subject,
}: Pick<WalletEvent, 'created_at' | 'name' | 'subject'>): string =>
  `${secondOf(at)} ${inWords(name)}: ${subject}`;

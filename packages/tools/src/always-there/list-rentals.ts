import type { Credential, CredentialPage } from '@agent-rental/contract';
import type { RentalClient } from '@agent-rental/sdk';
import { CREDENTIALS_PAGE } from '../definitions/rented-definitions.js';
import type { RentedTool } from '../definitions/rented-tool.js';
import { toolName } from '../definitions/tool-name.js';
import { textArgument } from '../runs/run-arguments.js';
import { creatorLine } from '../text/creator-text.js';
import { checkedTool } from '../runs/checked-tool.js';
import { answer, objectResult, READ_ONLY } from './answer.js';
import { pageArguments } from './page-arguments.js';

const LIMIT = { default: 20, max: 50 };
const TITLE_LENGTH = 120;
/** Highest number of rentals that a search reads. With more rentals, search the marketplace. */
const MAX_LOOKED_THROUGH = 1_000;

/** `list_rentals`: the rentals of this wallet, also without a direct tool. */
export function listRentalsTool(client: RentalClient): RentedTool {
  return checkedTool({
    name: 'list_rentals',
    title: 'List rented agents',
    description:
      'Lists the rented agents of this wallet, the most recent first, also agents without a direct tool. ' +
      'With rent_listing, top up an agent of status "low_balance" and renew one of status "expired". ' +
      'Any of them but a "suspended" one runs with run_agent. Free.',
    inputSchema: {
      type: 'object',
      properties: {
        query: { type: 'string', description: 'Words of the title or id.' },
        limit: { type: 'integer', minimum: 1, maximum: LIMIT.max, description: `Default ${LIMIT.default}.` },
        offset: { type: 'integer', minimum: 0, description: 'next_offset of the page before.' },
      },
    },
    annotations: READ_ONLY,
    stream: (args, options) =>
      answer(args, options, async (given, call) => {
        const { limit, offset } = pageArguments(given, LIMIT);
        const words = (textArgument(given, 'query') ?? '').toLowerCase().split(/\s+/).filter(Boolean);
        const page = await (words.length === 0
          ? client.listCredentials({ limit, offset }, { signal: call.signal })
          : matchingRentals(client, words, { limit, offset }, call.signal));
        return objectResult({
          rentals: await Promise.all(page.credentials.map(rentalFacts)),
          total: page.total,
          ...(page.total_is_minimum ? { total_is_minimum: true } : {}),
          ...(page.next_cursor === undefined ? {} : { next_offset: offset + limit }),
        });
      }),
  });
}

/** A page of the rentals with these words, in the form of the API. */
async function matchingRentals(
  client: RentalClient,
  words: readonly string[],
  { limit, offset }: { limit: number; offset: number },
  signal: AbortSignal | undefined,
): Promise<CredentialPage> {
  const rentals: Credential[] = [];
  let cursor: string | undefined;
  do {
    const page = await client.listCredentials({ limit: CREDENTIALS_PAGE, cursor }, { signal });
    rentals.push(...page.credentials);
    cursor = page.next_cursor;
  } while (cursor !== undefined && rentals.length < MAX_LOOKED_THROUGH);
  const found = rentals.filter((rental) => matches(rental, words));
  const next = offset + limit;
  return {
    credentials: found.slice(offset, next),
    total: found.length,
    ...(next < found.length ? { next_cursor: String(next) } : {}),
  };
}

function matches({ listing_id, listing_title }: Credential, words: readonly string[]): boolean {
  const text = `${listing_id} ${listing_title}`.toLowerCase();
  return words.every((word) => text.includes(word));
}

async function rentalFacts(rental: Credential) {
  const { listing_id, listing_title, rental_model, status, expires_at, balance_lamports } = rental;
  return {
    agent_id: listing_id,
    tool: await toolName(listing_id),
    title: creatorLine(listing_title, TITLE_LENGTH),
    rental_model,
    status,
    ...(expires_at === null ? {} : { expires_at }),
    ...(balance_lamports === undefined ? {} : { balance_lamports }),
  };
}

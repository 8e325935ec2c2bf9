import type { Credential, CredentialPage } from '@agent-rental/contract';
import type { GivenTool } from './framework.js';
import type { Caller } from './rented-marketplace.js';

/** The API's largest page. */
const PAGE = 100;

/**
 * Lists a caller's rentals by `fetch` alone. The first page has the total, or its minimum. The other pages are fetched at the
 * same time.
 */
export async function bareRentals(
  { baseUrl, token }: Caller,
  rentals: number,
  include: '' | '&include=listing' = '',
): Promise<Credential[]> {
  const get = async (offset: number) => {
    const query = `status=active&limit=${Math.min(PAGE, rentals - offset)}&offset=${offset}${include}`;
    const page = await bareGet(baseUrl, token, `/v1/credentials?${query}`);
    return page as CredentialPage;
  };
  const first = await get(0);
  const known = first.total_is_minimum ? rentals : Math.min(first.total, rentals);
  const pages = Math.ceil(known / PAGE);
  const others = await Promise.all(Array.from({ length: pages - 1 }, (_, index) => get((index + 1) * PAGE)));
  return [first, ...others].flatMap(({ credentials }) => credentials);
}

/** Gets JSON by `fetch`. @throws Error with the answer of a failure. */
export async function bareGet(baseUrl: string, token: string, path: string): Promise<unknown> {
  const response = await fetch(baseUrl + path, { headers: { authorization: `Bearer ${token}` } });
  if (!response.ok) throw new Error(`GET ${path} answered ${response.status}: ${await response.text()}`);
  return response.json();
}

/** A rental's tool, as a client for one model makes it when it trusts the creator. */
export function bareTool({ listing_id: id, listing }: Credential): GivenTool {
  if (listing === undefined) throw new Error(`${id} came without its listing.`);
  return {
    name: id.replaceAll('-', '_'),
    description: listing.description,
    inputSchema: {
      type: 'object',
      properties: {
        agent_id: { type: 'string', enum: [id] },
        task: { type: 'string' },
        input: listing.input_schema,
      },
      required: ['agent_id', 'task'],
    },
  };
}

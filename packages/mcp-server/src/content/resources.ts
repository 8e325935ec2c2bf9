import type { RentalClient } from '@agent-rental/sdk';
import { isApiError } from '@agent-rental/sdk';
import { creatorLine, RESULT_KEPT_HOURS, resultOfError, type RentedToolset } from '@agent-rental/tools';
import {
  ProtocolError,
  ProtocolErrorCode,
  ResourceNotFoundError,
  type ReadResourceResult,
  type Resource,
  type ResourceTemplateType,
} from '@modelcontextprotocol/server';
import { dataUrl } from './data-url.js';
import { listingIcons } from './icons.js';

const SCHEME = 'agent-rental';
const JSON_TYPE = 'application/json';

/** Address of a run's whole output. */
export const runUri = (runId: string): string => `${SCHEME}://runs/${encodeURIComponent(runId)}`;
/** Address of a run's signed receipt. */
export const receiptUri = (runId: string): string => `${runUri(runId)}/receipt`;
/** Address of a listing. */
export const listingUri = (id: string): string => `${SCHEME}://listings/${encodeURIComponent(id)}`;

/** Resources, read by address. */
export const RESOURCE_TEMPLATES: readonly ResourceTemplateType[] = [
  {
    name: 'listing',
    title: 'An agent on the marketplace',
    uriTemplate: `${SCHEME}://listings/{agent_id}`,
    description: 'Description, input and price of an agent. Its creator wrote the texts.',
    mimeType: JSON_TYPE,
  },
  {
    name: 'run',
    title: 'Output of a run',
    uriTemplate: `${SCHEME}://runs/{run_id}`,
    description: `The whole output of a run of this wallet, for ${RESULT_KEPT_HOURS} hours. The agent wrote it.`,
  },
  {
    name: 'receipt',
    title: 'Receipt of a run',
    uriTemplate: `${SCHEME}://runs/{run_id}/receipt`,
    description: 'The receipt of a run of this wallet, with its status and cost, signed by the marketplace.',
    mimeType: JSON_TYPE,
  },
];

/** The listings of a caller's rentals. */
export async function listResources(
  client: RentalClient,
  publicUrl: string,
  signal: AbortSignal,
): Promise<Resource[]> {
  const { credentials } = await client.listCredentials({ limit: 100 }, { signal });
  return credentials.map(({ listing_id: id, listing_title: title, status, icon_path }) => ({
    // Some hosts offer a resource as a tool under its name, which must differ from the rented tool's.
    name: `listing: ${id}`,
    title: `Rented agent: ${creatorLine(title, 80)}`,
    uri: listingUri(id),
    description: `Listing of a rented agent (${status}).`,
    mimeType: JSON_TYPE,
    ...listingIcons(publicUrl, icon_path),
  }));
}

/**
 * Reads a resource.
 *
 * @throws ResourceNotFoundError for a missing resource or another caller's; ProtocolError for a refusal of the API; ConnectionError.
 */
export async function readResource(
  { client, toolset }: { client: RentalClient; toolset: RentedToolset },
  uri: string,
  signal: AbortSignal,
): Promise<ReadResourceResult> {
  const [, kind, id, part] = new RegExp(`^${SCHEME}://(listings|runs)/([^/]+)(/receipt)?$`).exec(uri) ?? [];
  if (id === undefined || (kind === 'listings' && part !== undefined)) throw new ResourceNotFoundError(uri);
  try {
    const name = decodeURIComponent(id);
    if (kind === 'listings') {
      // Use the tool's answer, which is cleaned and bounded for a model.
      const tool = toolset.alwaysThere.find((candidate) => candidate.name === 'get_listing');
      const shown = await tool?.invoke({ agent_id: name }, { signal });
      if (shown?.status !== 'completed') throw new ResourceNotFoundError(uri);
      return contents(uri, JSON_TYPE, shown.text);
    }
    if (part !== undefined)
      return contents(uri, JSON_TYPE, JSON.stringify(await client.getReceipt(name, { signal })));
    const run = await client.getRun(name, { signal });
    if (run.status === 'running') return contents(uri, JSON_TYPE, JSON.stringify(run));
    if (typeof run.output !== 'string') return contents(uri, JSON_TYPE, JSON.stringify(run.output));
    const file = dataUrl(run.output);
    if (file === undefined) return contents(uri, 'text/plain', run.output);
    return { contents: [{ uri, mimeType: file.mediaType, blob: file.data }] };
  } catch (error) {
    if (error instanceof URIError) throw new ResourceNotFoundError(uri);
    if (isApiError(error) && error.status === 404) throw new ResourceNotFoundError(uri);
    // Use the terms of the tools: a host may show the error to its model.
    if (isApiError(error))
      throw new ProtocolError(ProtocolErrorCode.InternalError, resultOfError(error).text);
    throw error;
  }
}

function contents(uri: string, mimeType: string, text: string): ReadResourceResult {
  return { contents: [{ uri, mimeType, text }] };
}

import {
  agentWarnings,
  listingTerms,
  manifest,
  MANIFEST_MAX_BYTES,
  PRICE_LAMPORTS,
  priceViolations,
  publishedSecrets,
  violationsOf,
  type Violation,
} from '@agent-rental/contract';

/** One fault or improvement of an agent. `path` is dotted, as in `tools.3.name`. */
export type AgentFault = Violation;

/** The result of {@link checkAgent}. */
export interface CheckedAgent {
  /** Faults for which the marketplace would refuse the agent. */
  readonly faults: AgentFault[];
  /** Improvements for renters and for models that choose among tools. They block nothing. */
  readonly advice: AgentFault[];
}

type Fields = Record<string, unknown>;

/**
 * Checks the body of a registration without a marketplace: the manifest, and the terms in `listing`. The registration
 * checks the rest: schemas, public addresses and served tools.
 *
 * @param minQueryPriceLamports the marketplace's least price of a Per-Task listing
 */
export function checkAgent(
  body: Fields,
  minQueryPriceLamports: number = PRICE_LAMPORTS.minQuery,
): CheckedAgent {
  const { listing, model_key: _, ...fields } = body;
  const parsed = manifest.safeParse(fields);
  const terms = listing === undefined ? undefined : listingTerms.safeParse(listing);
  const faults = [
    ...violationsOf(parsed.error, fields),
    ...violationsOf(terms?.error, listing, 'listing.'),
    ...priceViolations(listing, minQueryPriceLamports),
    ...addressesOf(fields)
      .filter(({ url }) => url.protocol !== 'https:' && !isLoopback(url))
      .map(({ path, url }) => ({
        path,
        message: `cannot be called: it begins with ${url.protocol}//, and only https:// is called`,
      })),
    ...publishedSecrets(fields, listing),
  ];
  const bytes = new TextEncoder().encode(JSON.stringify(fields)).length;
  if (bytes > MANIFEST_MAX_BYTES) {
    faults.push({ path: '', message: `the manifest has ${bytes} bytes; the most is ${MANIFEST_MAX_BYTES}` });
  }
  return { faults, advice: adviceFor(fields, listing) };
}

/** The addresses that the marketplace calls. */
function addressesOf(fields: Fields): { path: string; url: URL }[] {
  const { endpoint_url: endpoint } = Object(fields['model']) as Fields;
  return [
    { path: 'entrypoint_url', url: fields['entrypoint_url'] },
    { path: 'model.endpoint_url', url: fields['system_prompt'] === undefined ? undefined : endpoint },
  ].flatMap(({ path, url }) =>
    typeof url === 'string' && URL.canParse(url) ? [{ path, url: new URL(url) }] : [],
  );
}

const isLoopback = ({ hostname }: URL) => ['127.0.0.1', 'localhost', '[::1]'].includes(hostname);

/**
 * Adds a placeholder `model` to the manifest of a connected agent. The specification requires a model in every manifest,
 * but the marketplace does not use the model of a connected agent.
 *
 * @returns the manifest, and whether a model was filled in
 */
export function completeConnected<T extends Fields>(body: T): { body: T; isFilled: boolean } {
  const entrypoint = body['entrypoint_url'];
  if (typeof entrypoint !== 'string' || body['model'] !== undefined) return { body, isFilled: false };
  return {
    body: { ...body, model: { provider: 'self_hosted', endpoint_url: entrypoint } },
    isFilled: true,
  };
}

function adviceFor(fields: Fields, listing: unknown): AgentFault[] {
  const advice: AgentFault[] = agentWarnings(fields);
  for (const { path } of addressesOf(fields).filter(({ url }) => isLoopback(url))) {
    advice.push({ path, message: 'is on this machine: a marketplace elsewhere refuses it' });
  }
  if (listing === undefined) {
    advice.push({
      path: 'listing',
      message: 'is missing: rental_model and price_lamports are asked for to publish',
    });
  } else if ((Object(listing) as Fields)['sample_output'] === undefined) {
    advice.push({ path: 'listing.sample_output', message: 'is missing: renters see one to three of them' });
  }
  return advice;
}

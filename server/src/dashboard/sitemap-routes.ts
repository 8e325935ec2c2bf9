import {
  LISTING_PAGE_PATH,
  PROFILE_PAGE_PATH,
  SITEMAP_PART_PATH,
  SITEMAP_PATH,
} from '@agent-rental/contract';
import type { FastifyInstance, FastifyReply } from 'fastify';
import { ApiError } from '../errors/api-error.js';
import type { ListingAddresses } from '../listings/index.js';

/** Listings of one part. Their text takes a millisecond or two, and about 1 MB. */
const PART_SIZE = 5_000;
/** The site map names the oldest 50,000 listings at most. */
const MOST_PARTS = 10;
/** Search engines ask seldom; a stranger who asks often gets the same text. */
const KEPT_MS = 3_600_000;
const NAMESPACE = 'http://www.sitemaps.org/schemas/sitemap/0.9';

/** The parts that the site map has now. */
const partsOf = (listings: number): number =>
  Math.min(MOST_PARTS, Math.max(1, Math.ceil(listings / PART_SIZE)));

/** Adds the site map: an index, and parts with the pages of agents on sale and of their creators. */
export function sitemapRoutes(
  app: FastifyInstance,
  {
    addresses,
    origin,
    keptMs = KEPT_MS,
  }: { addresses: ListingAddresses; origin: () => string; keptMs?: number },
): void {
  const config = { auth: 'none' } as const;
  const kept = new Map<string, { text: Promise<string>; until: number }>();
  /** A text, made once for all who ask within its time. */
  const keptText = (name: string, make: () => Promise<string>): Promise<string> => {
    const known = kept.get(name);
    if (known && known.until > Date.now()) return known.text;
    const text = make();
    kept.set(name, { text, until: Date.now() + keptMs });
    // A failure is not kept.
    text.catch(() => kept.delete(name));
    return text;
  };
  const send = (reply: FastifyReply, text: string) =>
    reply.header('cache-control', 'public, max-age=3600').type('text/xml; charset=utf-8').send(text);
  const parts = async () => partsOf(await addresses.count());

  app.get(SITEMAP_PATH, { config }, async (_, reply) => {
    const text = await keptText('index', async () => {
      const numbers = Array.from({ length: await parts() }, (_part, index) => String(index + 1));
      const urls = numbers.map((number) => origin() + SITEMAP_PART_PATH.replace(':part', number));
      return documentOf('sitemapindex', 'sitemap', urls);
    });
    return send(reply, text);
  });
  app.get<{ Params: { part: string } }>(SITEMAP_PART_PATH, { config }, async ({ params }, reply) => {
    const number = /^[1-9]\d?$/.test(params.part) ? Number(params.part) : Number.NaN;
    if (!(number <= (await parts()))) throw new ApiError('not_found', 'The site map has no such part.');
    const text = await keptText(params.part, async () => {
      const rows = await addresses.page((number - 1) * PART_SIZE, PART_SIZE);
      const creators = new Set(rows.map(({ creator }) => PROFILE_PAGE_PATH.replace(':wallet', creator)));
      const listings = rows.map(({ id }) => LISTING_PAGE_PATH.replace(':listing_id', id));
      const first = number === 1 ? ['/'] : [];
      return documentOf(
        'urlset',
        'url',
        [...first, ...listings, ...creators].map((path) => origin() + path),
      );
    });
    return send(reply, text);
  });
}

/** Addresses as a document. Ids and wallets have letters, digits and hyphens alone; the origin may have an ampersand. */
function documentOf(root: string, entry: string, urls: readonly string[]): string {
  const entries = urls.map(
    (url) => `<${entry}><loc>${url.replaceAll('&', '&amp;').replaceAll('<', '&lt;')}</loc></${entry}>`,
  );
  return [
    `<?xml version="1.0" encoding="UTF-8"?>`,
    `<${root} xmlns="${NAMESPACE}">`,
    ...entries,
    `</${root}>`,
    '',
  ].join('\n');
}

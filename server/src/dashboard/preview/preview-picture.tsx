import { fileURLToPath } from 'node:url';
import { formatSol, listingId, PREVIEW_PICTURE_PATH } from '@agent-rental/contract';
import type { FastifyInstance } from 'fastify';
import { LRUCache } from 'lru-cache';
import { renderToString } from 'preact-render-to-string';
import { ApiError } from '../../errors/api-error.js';
import type { ListingService, PublishedListing } from '../../listings/index.js';
import { WorkerPool } from '../../platform/worker-pool.js';
import { colourOf, squaresPath } from '../components/agent-icon.js';
import { iconColours, iconShape } from '../components/icon-shape.js';
import { PRICE_UNITS } from '../pages/price.js';
import { titleLine } from '../words.js';

/** Of the smallest large preview, twice as wide as high (ogp.me). */
export const PREVIEW_PX = { width: 600, height: 314 } as const;
/** The places of its parts. */
export const PREVIEW_PARTS = { icon: { x: 40, y: 30, squarePx: 14 }, titleY: 160, priceY: 284 } as const;
const TITLE_LINE_PX = 42;
/** So many letters of usual width have place in a line; the edge cuts wider ones. */
const LINE_CHARACTERS = 22;
const MOST_LINES = 3;
const LINES = new RegExp(`\\S.{0,${LINE_CHARACTERS - 1}}(?=\\s|$)|\\S{${LINE_CHARACTERS}}`, 'gu');
const CACHED_PICTURES = 500;
const WORKER = fileURLToPath(new URL('../../../dist/dashboard/preview/draw-worker.js', import.meta.url));
const drawers = new WorkerPool<string, Uint8Array>(WORKER, { most: 1, deadlineMs: 10_000 });

type Shown = Pick<PublishedListing, 'id' | 'title' | 'rentalModel' | 'priceLamports'>;

/** Serves the picture that a chat or a social network shows beside a link to an agent: its icon, title and price. */
export function previewPictureRoute(app: FastifyInstance, listings: Pick<ListingService, 'find'>): void {
  const pictures = new LRUCache<string, Buffer>({ max: CACHED_PICTURES, fetchMethod: (svg) => pngOf(svg) });
  app.get<{ Params: { listing_id: string } }>(
    PREVIEW_PICTURE_PATH,
    { config: { auth: 'none' } },
    async ({ params }, reply) => {
      const id = listingId.safeParse(params.listing_id);
      if (!id.success) throw new ApiError('not_found', 'This is not the id of an agent.');
      const picture = await pictures.fetch(previewSvg(await listings.find(id.data)));
      return reply
        .headers({ 'cache-control': 'public, max-age=3600', 'x-content-type-options': 'nosniff' })
        .type('image/png')
        .send(picture);
    },
  );
}

function previewSvg({ id, title, rentalModel, priceLamports }: Shown): string {
  const { width, height } = PREVIEW_PX;
  const { icon, titleY, priceY } = PREVIEW_PARTS;
  const { hue, squares } = iconShape(id);
  const colours = iconColours(hue);
  return renderToString(
    <svg xmlns="http://www.w3.org/2000/svg" width={width} height={height}>
      <rect width={width} height={height} fill={colourOf(colours.ground)} />
      <g fill={colourOf(colours.squares)} font-weight="700" font-size="36">
        <path transform={`translate(${icon.x} ${icon.y}) scale(${icon.squarePx})`} d={squaresPath(squares)} />
        <text x={icon.x + 92} y="73" font-size="20">
          Agent Rental Marketplace
        </text>
        {linesOf(titleLine(title)).map((line, index) => (
          <text key={index} x={icon.x} y={titleY + index * TITLE_LINE_PX}>
            {line}
          </text>
        ))}
        <text x={icon.x} y={priceY} font-size="24">
          {formatSol(priceLamports)} {PRICE_UNITS[rentalModel]}
        </text>
      </g>
    </svg>,
  );
}

/** Breaks a title into lines, between words where it can. */
function linesOf(title: string): string[] {
  const lines = title.match(LINES) ?? [];
  const [last = '', ...left] = lines.slice(MOST_LINES - 1);
  return [...lines.slice(0, MOST_LINES - 1), left.length > 0 ? `${last.slice(0, -3)}...` : last];
}

/** Draws a picture. @throws ApiError `service_unavailable` where it takes too long */
export async function pngOf(svg: string): Promise<Buffer> {
  const png = await drawers.ask(svg);
  if (png !== 'late') return Buffer.from(png);
  throw new ApiError('service_unavailable', 'The picture took too long.', { next: 'Try again.' });
}

import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { listingId, PREVIEW_PICTURE_PATH } from '@agent-rental/contract';
import type { FastifyInstance } from 'fastify';
import { PNG } from 'pngjs';
import { ApiError } from '../errors/api-error.js';
import { ICON_SIDE, iconColours, iconShape } from './components/icon-shape.js';

/** Of the smallest large preview, twice as wide as high (ogp.me). */
export const PREVIEW_PX = { width: 600, height: 314 } as const;
const SQUARE_PX = 40;

/** Serves the picture that a chat or a social network shows beside a link to an agent. It has the agent's icon alone. */
export function previewPictureRoute(app: FastifyInstance): void {
  app.get<{ Params: { listing_id: string } }>(
    PREVIEW_PICTURE_PATH,
    { config: { auth: 'none' } },
    async ({ params }, reply) => {
      const id = listingId.safeParse(params.listing_id);
      if (!id.success) throw new ApiError('not_found', 'This is not the id of an agent.');
      return reply
        .headers({
          'cache-control': 'public, max-age=31536000, immutable',
          'x-content-type-options': 'nosniff',
        })
        .type('image/png')
        .send(await previewPicture(id.data));
    },
  );
}

/** Draws the icon of an agent in the middle of its ground, as PNG. */
async function previewPicture(id: string): Promise<Buffer> {
  const { width, height } = PREVIEW_PX;
  const { hue, squares } = iconShape(id);
  const colours = iconColours(hue);
  const picture = new PNG({ width, height, colorType: 2, filterType: 0, deflateStrategy: 0 });
  const ground = rgbOf(colours.ground);
  picture.data.fill(Buffer.from([...ground, 255]));
  const left = Math.round((width - ICON_SIDE * SQUARE_PX) / 2);
  const top = Math.round((height - ICON_SIDE * SQUARE_PX) / 2);
  const line = Buffer.alloc(SQUARE_PX * 4, Buffer.from([...rgbOf(colours.squares), 255]));
  for (const [x, y] of squares)
    for (let row = 0; row < SQUARE_PX; row += 1)
      line.copy(picture.data, ((top + y * SQUARE_PX + row) * width + left + x * SQUARE_PX) * 4);
  // Its stream is of an old kind, which cannot be read to its end at once.
  return buffer(new Readable().wrap(picture.pack()));
}

/** A colour as red, green and blue, by the formula of CSS Color 4, section 7.1. */
function rgbOf([hue, saturation, lightness]: readonly [number, number, number]): number[] {
  const [s, l] = [saturation / 100, lightness / 100];
  const amount = s * Math.min(l, 1 - l);
  return [0, 8, 4].map((offset) => {
    const k = (offset + hue / 30) % 12;
    return Math.round(255 * (l - amount * Math.max(-1, Math.min(k - 3, 9 - k, 1))));
  });
}

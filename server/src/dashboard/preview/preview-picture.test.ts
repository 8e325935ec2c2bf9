import { PREVIEW_PICTURE_PATH } from '@agent-rental/contract';
import Fastify from 'fastify';
import { PNG } from 'pngjs';
import { expect, it } from 'vitest';
import type { PublishedListing } from '../../listings/index.js';
import { ICON_SIDE, iconShape } from '../components/icon-shape.js';
import { PREVIEW_PARTS, PREVIEW_PX, previewPictureRoute } from './preview-picture.js';

let shown = { title: 'Clerk', priceLamports: 250_000n };
const app = Fastify();
previewPictureRoute(app, {
  find: async (id) => ({ id, rentalModel: 'per_query', ...shown }) as PublishedListing,
});
const ask = (id: string) => app.inject(PREVIEW_PICTURE_PATH.replace(':listing_id', id));
const MOST_BYTES = 30_000;

/** The pixels of a row, as text. */
async function rowsOf(listing: Partial<typeof shown>): Promise<string[]> {
  shown = { ...shown, ...listing };
  const answer = await ask('clerk-aaaaaa');
  expect(answer.headers['content-type']).toBe('image/png');
  expect(answer.rawPayload.length).toBeLessThan(MOST_BYTES);
  const { width, height, data } = PNG.sync.read(answer.rawPayload);
  return Array.from({ length: height }, (_, y) =>
    data.subarray(y * width * 4, (y + 1) * width * 4).toString('hex'),
  );
}

/** The first and the last row in which two pictures differ. */
function differentRows(one: string[], other: string[]): [number, number] {
  const rows = one.flatMap((row, y) => (row === other[y] ? [] : [y]));
  return [rows.at(0) ?? -1, rows.at(-1) ?? -1];
}

it.each(['clerk-aaaaaa', 'longer-cccccc'])(
  'the picture beside a link shows the icon of %s [SVC-17]',
  async (id) => {
    const { width, height, data } = PNG.sync.read((await ask(id)).rawPayload);
    expect({ width, height }).toEqual(PREVIEW_PX);
    const pixel = (x: number, y: number) =>
      data.subarray((y * width + x) * 4, (y * width + x) * 4 + 3).toString('hex');
    const ground = pixel(0, 0);
    const drawn: string[] = [];
    const { x: left, y: top, squarePx } = PREVIEW_PARTS.icon;
    for (let x = 0; x < ICON_SIDE; x += 1)
      for (let y = 0; y < ICON_SIDE; y += 1)
        if (pixel(left + (x + 0.5) * squarePx, top + (y + 0.5) * squarePx) !== ground)
          drawn.push(`${x} ${y}`);
    expect(drawn.toSorted()).toEqual(
      iconShape(id)
        .squares.map(([x, y]) => `${x} ${y}`)
        .toSorted(),
    );
  },
);

it('the picture beside a link shows the title in its lines, and the price below them [SVC-17]', async () => {
  const before = await rowsOf({ title: 'Clerk' });
  const [firstTitle, lastTitle] = differentRows(
    before,
    await rowsOf({ title: 'A reader of contracts and dates' }),
  );
  expect(firstTitle).toBeGreaterThan(PREVIEW_PARTS.titleY - 36);
  expect(lastTitle).toBeLessThan(PREVIEW_PARTS.priceY - 24);
  const [firstPrice, lastPrice] = differentRows(
    await rowsOf({ title: 'Clerk' }),
    await rowsOf({ priceLamports: 260_000n }),
  );
  expect(firstPrice).toBeGreaterThan(PREVIEW_PARTS.priceY - 24);
  expect(lastPrice).toBeLessThan(PREVIEW_PX.height);
});

it.each([
  '</text><image href="https://thief.example/x.png"/><text>',
  'قارئ العقود والتواريخ المهمة',
  'w'.repeat(120),
  'Reads each long contract, with all of its parts, and gives each date and each duty',
])('a title of any letters is drawn as text, above the price: %s [SVC-17]', async (title) => {
  const [first, last] = differentRows(await rowsOf({ title: 'Clerk' }), await rowsOf({ title }));
  expect(first).toBeGreaterThan(PREVIEW_PARTS.titleY - 40);
  expect(last).toBeLessThan(PREVIEW_PARTS.priceY - 24);
});

it('another address has no picture, and the same agent has the same one [SVC-17]', async () => {
  expect((await ask('no%20agent')).statusCode).toBe(404);
  expect((await ask('clerk-aaaaaa')).rawPayload).toEqual((await ask('clerk-aaaaaa')).rawPayload);
  expect((await ask('clerk-aaaaaa')).rawPayload).not.toEqual((await ask('clerk-bbbbbb')).rawPayload);
});

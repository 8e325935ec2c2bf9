import { PREVIEW_PICTURE_PATH } from '@agent-rental/contract';
import Fastify from 'fastify';
import { PNG } from 'pngjs';
import { expect, it } from 'vitest';
import { ICON_SIDE, iconShape } from './components/icon-shape.js';
import { PREVIEW_PX, previewPictureRoute } from './preview-picture.js';

const app = Fastify();
previewPictureRoute(app);
const ask = (id: string) => app.inject(PREVIEW_PICTURE_PATH.replace(':listing_id', id));

it.each(['clerk-aaaaaa', 'longer-cccccc'])(
  'the picture beside a link shows the icon of %s [SVC-17]',
  async (id) => {
    const answer = await ask(id);
    expect(answer.headers['content-type']).toBe('image/png');
    const { width, height, data } = PNG.sync.read(answer.rawPayload);
    expect({ width, height }).toEqual(PREVIEW_PX);
    const pixel = (x: number, y: number) =>
      data.subarray((y * width + x) * 4, (y * width + x) * 4 + 3).toString('hex');
    const ground = pixel(0, 0);
    const drawn: string[] = [];
    for (let x = 0; x < ICON_SIDE; x += 1)
      for (let y = 0; y < ICON_SIDE; y += 1)
        if (pixel(width / 2 + (x - 2) * 40, height / 2 + (y - 2) * 40) !== ground) drawn.push(`${x} ${y}`);
    expect(drawn.toSorted()).toEqual(
      iconShape(id)
        .squares.map(([x, y]) => `${x} ${y}`)
        .toSorted(),
    );
    expect(answer.rawPayload.length).toBeLessThan(10_000);
  },
);

it('another address has no picture, and the same agent has the same one [SVC-17]', async () => {
  expect((await ask('no%20agent')).statusCode).toBe(404);
  expect((await ask('clerk-aaaaaa')).rawPayload).toEqual((await ask('clerk-aaaaaa')).rawPayload);
  expect((await ask('clerk-aaaaaa')).rawPayload).not.toEqual((await ask('clerk-bbbbbb')).rawPayload);
});

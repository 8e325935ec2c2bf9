import { expect, it } from 'vitest';
import { listingIcons, markIcons } from './icons.js';

const HASH = 'ab'.repeat(32);

it('icons have addresses of the marketplace, also below a path [LST-54]', () => {
  expect(listingIcons('https://market.example', `/icons/${HASH}`)).toEqual({
    icons: [{ src: `https://market.example/icons/${HASH}` }],
  });
  expect(markIcons('https://market.example/rentals/')).toEqual([
    { src: 'https://market.example/rentals/icon.png', mimeType: 'image/png', sizes: ['128x128'] },
  ]);
});

it.each([
  undefined,
  '',
  `https://evil.example/icons/${HASH}`,
  `//evil.example/icons/${HASH}`,
  `@evil.example/icons/${HASH}`,
  `.evil.example/icons/${HASH}`,
  `:80@evil.example/icons/${HASH}`,
  `/icons/../icons/${HASH}`,
  `/icons/${HASH}?x`,
  `/icons/${HASH}\n`,
  'data:image/svg+xml,<svg/>',
  'javascript:alert(1)',
])('a listing whose icon is no picture of the marketplace has none: %j [LST-54]', (path) => {
  expect(listingIcons('https://market.example', path)).toEqual({});
});

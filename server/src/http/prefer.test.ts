import { expect, it } from 'vitest';
import { readPreferences } from './prefer.js';

it.each([
  [undefined, { respondAsync: false, waitSeconds: undefined }],
  ['respond-async', { respondAsync: true, waitSeconds: undefined }],
  ['respond-async, wait=10', { respondAsync: true, waitSeconds: 10 }],
  ['Wait="5"; x=y , RESPOND-ASYNC', { respondAsync: true, waitSeconds: 5 }],
  ['wait=1, wait=9', { respondAsync: false, waitSeconds: 1 }],
  ['wait=86400', { respondAsync: false, waitSeconds: 60 }],
  ['wait=-1, handling=lenient', { respondAsync: false, waitSeconds: undefined }],
  ['wait=, unknown', { respondAsync: false, waitSeconds: undefined }],
])('the header Prefer: %j is understood', (header, preferences) => {
  expect(readPreferences(header)).toEqual(preferences);
});

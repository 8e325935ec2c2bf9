import { expect, it } from 'vitest';
import { readPreferences } from './prefer.js';

it.each([
  [undefined, { respondAsync: false, waitSeconds: undefined, adoptUndelivered: false }],
  ['respond-async', { respondAsync: true, waitSeconds: undefined, adoptUndelivered: false }],
  ['respond-async, wait=10', { respondAsync: true, waitSeconds: 10, adoptUndelivered: false }],
  ['Wait="5"; x=y , RESPOND-ASYNC', { respondAsync: true, waitSeconds: 5, adoptUndelivered: false }],
  ['wait=1, wait=9', { respondAsync: false, waitSeconds: 1, adoptUndelivered: false }],
  ['wait=86400', { respondAsync: false, waitSeconds: 60, adoptUndelivered: false }],
  ['wait=-1, handling=lenient', { respondAsync: false, waitSeconds: undefined, adoptUndelivered: false }],
  ['wait=, adopt-undelivered', { respondAsync: false, waitSeconds: undefined, adoptUndelivered: true }],
])('the header Prefer: %j is understood', (header, preferences) => {
  expect(readPreferences(header)).toEqual(preferences);
});

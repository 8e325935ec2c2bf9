import { expect, it, vi } from 'vitest';
import { noSuchRoute } from './known-methods.js';

it('a value that the router refuses in a path with that method is 404, and names no methods [ERR-5]', () => {
  const routes = [{ method: 'GET', path: '/previews/:listing_id.png' }];
  const allow = vi.fn();
  expect(noSuchRoute(routes, { method: 'GET', url: '/previews/a%0Ab.png' }, allow)).toMatchObject({
    code: 'not_found',
  });
  expect(allow).not.toHaveBeenCalled();
});

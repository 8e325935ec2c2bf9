import { ApiError } from '../errors/api-error.js';

/** The parts of a route that decide whether it serves a path. */
interface KnownRoute {
  readonly method: string;
  readonly path: string;
}

/**
 * The refusal of a request that no route serves: 405 where the path has other methods only (RFC 9110, section 15.5.6),
 * otherwise 404.
 *
 * @param allow gets the methods of the path, for the header `Allow`.
 */
export function noSuchRoute(
  routes: readonly KnownRoute[],
  { method, url }: { readonly method: string; readonly url: string },
  allow: (methods: string) => void,
): ApiError {
  const [path = ''] = url.split('?');
  const given = partsOf(path);
  const known = new Set(routes.filter((route) => serves(route.path, given)).map((route) => route.method));
  // The router also refuses values that a path of this method cannot have, such as a line break in a file's name.
  if (known.size === 0 || known.has(method)) {
    return new ApiError('not_found', `There is no ${method} ${path}.`);
  }
  const methods = [...known].sort().join(', ');
  allow(methods);
  return new ApiError('invalid_request', `${path} has no ${method}.`, {
    next: `Use ${methods}.`,
    status: 405,
  });
}

function partsOf(path: string): string[] {
  return path.replace(/\/$/, '').split('/');
}

/** Whether a route serves a path. The route `*` of preflights serves none. */
function serves(route: string, given: readonly string[]): boolean {
  const parts = partsOf(route);
  return (
    route !== '*' &&
    parts.length === given.length &&
    parts.every((part, index) => (part.startsWith(':') ? given[index] !== '' : part === given[index]))
  );
}

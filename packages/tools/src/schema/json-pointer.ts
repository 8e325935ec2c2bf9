/**
 * Follows a reference inside one document: `#`, or `#/` and a JSON pointer (RFC 6901). It never follows references to other
 * documents, because a stranger wrote the address.
 */
export function resolvePointer(document: unknown, reference: string): unknown {
  if (!reference.startsWith('#')) return undefined;
  const pointer = reference.slice(1);
  if (pointer === '') return document;
  if (!pointer.startsWith('/')) return undefined;
  let found: unknown = document;
  for (const step of pointer.slice(1).split('/')) {
    if (typeof found !== 'object' || found === null) return undefined;
    const key = unescape(step);
    if (!Object.hasOwn(found, key)) return undefined;
    found = (found as Record<string, unknown>)[key];
  }
  return found;
}

function unescape(step: string): string {
  let decoded = step;
  try {
    decoded = decodeURIComponent(step);
  } catch {
    // Not percent-encoded: the step is literal.
  }
  return decoded.replaceAll('~1', '/').replaceAll('~0', '~');
}

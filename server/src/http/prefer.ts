import { MAX_WAIT_SECONDS } from '@agent-rental/contract';

/** The preferences of a request (RFC 7240). Unknown preferences are ignored, as the RFC says. */
export interface Preferences {
  respondAsync: boolean;
  /** Within bounds; undefined when none is asked for. */
  waitSeconds: number | undefined;
}

/** Reads the `Prefer` header; the first mention of a preference counts. */
export function readPreferences(header: string | string[] | undefined): Preferences {
  const named = new Map<string, string>();
  for (const item of String(header ?? '').split(',')) {
    const [name = '', value = ''] = (item.split(';')[0] ?? '').split('=').map((part) => part.trim());
    if (!named.has(name.toLowerCase())) named.set(name.toLowerCase(), value.replaceAll('"', ''));
  }
  const wait = named.get('wait');
  return {
    respondAsync: named.has('respond-async'),
    waitSeconds:
      wait !== undefined && /^\d{1,9}$/.test(wait) ? Math.min(Number(wait), MAX_WAIT_SECONDS) : undefined,
  };
}

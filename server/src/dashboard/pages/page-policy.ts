import { createHash } from 'node:crypto';
import { STYLES } from '../generated/styles.js';

const POLICY = [
  "default-src 'none'",
  `style-src 'sha256-${createHash('sha256').update(STYLES).digest('base64')}'`,
  // The icon of the tab, and the pictures of agents. A picture from here runs nothing, and tells no other service anything.
  "img-src 'self' data:",
  // No script of a page may call another service. Search engines' tools fetch robots.txt from within a page.
  "connect-src 'self'",
  "form-action 'self'",
  "frame-ancestors 'none'",
  "base-uri 'none'",
];

/**
 * The rights of a page: it may show its own style sheet and icon, and send its form to this service. It loads, runs and
 * frames nothing else.
 */
export const CONTENT_SECURITY_POLICY = POLICY.join('; ');

/** The same of a page that runs the one script with this nonce. */
export function policyWithScript(nonce: string): string {
  // Not 'self': uploaded content is served from here, too.
  return [...POLICY, `script-src 'nonce-${nonce}'`].join('; ');
}

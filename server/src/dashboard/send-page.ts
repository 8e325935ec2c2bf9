import { randomBytes } from 'node:crypto';
import type { FastifyReply } from 'fastify';
import { CONTENT_SECURITY_POLICY, policyWithScript } from './pages/styles.js';

const HEADERS = {
  'content-type': 'text/html; charset=utf-8',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'cache-control': 'no-store',
};

/** Sends a page; by default one that runs no script. */
export function sendPage(reply: FastifyReply, html: string, policy = CONTENT_SECURITY_POLICY): FastifyReply {
  return reply.headers({ ...HEADERS, 'content-security-policy': policy }).send(html);
}

/** Sends a page that runs the script of the pages, by a nonce of this response. */
export function sendScriptedPage(reply: FastifyReply, render: (nonce: string) => string): FastifyReply {
  const nonce = randomBytes(16).toString('base64url');
  return sendPage(reply, render(nonce), policyWithScript(nonce));
}

import { randomBytes } from 'node:crypto';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { FastifyReply } from 'fastify';
import { CONTENT_SECURITY_POLICY, policyWithScript } from './pages/page-policy.js';

const HEADERS = {
  'content-type': 'text/html; charset=utf-8',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'cache-control': 'no-store',
  vary: 'accept-encoding',
};
const compress = promisify(gzip);

/** Sends a page; by default one that runs no script. Compressing tells nothing: a page holds no secret but its nonce, used once. */
export async function sendPage(
  reply: FastifyReply,
  html: string,
  policy = CONTENT_SECURITY_POLICY,
): Promise<FastifyReply> {
  reply.headers({ ...HEADERS, 'content-security-policy': policy });
  if (!takesGzip(reply.request.headers['accept-encoding'])) return reply.send(html);
  return reply.header('content-encoding', 'gzip').send(await compress(html));
}

/** Sends a page that runs the script of the pages, by a nonce of this response. */
export function sendScriptedPage(
  reply: FastifyReply,
  render: (nonce: string) => string,
): Promise<FastifyReply> {
  const nonce = randomBytes(16).toString('base64url');
  return sendPage(reply, render(nonce), policyWithScript(nonce));
}

/** Whether a client takes a compressed answer. */
const takesGzip = (acceptEncoding: string | string[] | undefined): boolean =>
  /\bgzip\b/.test(String(acceptEncoding));

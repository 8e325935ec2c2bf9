/** Serves the adapter with the conformance suite's fixtures; prints its address, and ends with its standard input. */
import { createStandIn } from '@agent-rental/stand-in';
import { randomBytes } from 'node:crypto';
import { CONFORMANCE_LISTINGS, conformanceFixture } from './conformance-fixture.js';
import { serveMcp } from './serve-mcp.js';

const secret = randomBytes(32);
const served = await serveMcp(createStandIn(CONFORMANCE_LISTINGS), {
  secret,
  extend: conformanceFixture(secret),
  heartbeatMs: 20,
  pageSize: 200,
  allowedHosts: ['localhost', '127.0.0.1', '[::1]'],
});
process.stdout.write(`${served.url.href}\n`);
process.stdin.resume();
process.stdin.once('end', () => void served.close());

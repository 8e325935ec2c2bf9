import { readCommandLine, seedOr } from '@agent-rental/test/support/command-line/options';
import { Random } from '@agent-rental/test/support/random';
import { callInClients } from './in-clients/call-in-clients.js';
import { judgeTool, type Verdict } from './judge-tool.js';
import { listTools, type PublicTool } from './list-tools.js';
import { PUBLIC_SERVERS } from './servers.js';

const { values } = readCommandLine({
  command: 'npm run battery -- public-schemas',
  summary:
    'Lists the tools of public MCP servers, and compiles their schemas like a listing’s. Ends with 1 when a compiled schema ' +
    'refuses or changes a value that the original accepts. With --clients, publishes the tools, and MCP clients call them.',
  options: {
    clients: { kind: 'flag', text: 'have MCP clients call the tools too (Python 3; many minutes)' },
    client: { kind: 'text', text: 'with --clients, only clients whose name contains this' },
    server: { kind: 'text', text: 'only servers whose package contains this' },
    each: { kind: 'number', text: 'with --clients, values of a tool that each client sends', default: 3 },
    values: { kind: 'number', text: 'values to make for each tool', default: 60 },
    seed: { kind: 'number', text: 'of the values; random by default', least: 0 },
  },
});
const seed = seedOr(values.seed);
const random = new Random(seed);
const total: Verdict = { values: 0, refused: [], changed: [] };
const tools: PublicTool[] = [];
const servers = PUBLIC_SERVERS.filter(({ pkg }) => pkg.includes(values.server ?? ''));
const log = (line: string) => process.stderr.write(`${line}\n`);
for (const server of servers) {
  const listed = await listTools(server);
  tools.push(...listed);
  for (const tool of listed) {
    const { values: made, refused, changed } = judgeTool(tool, values.values, random);
    total.values += made;
    total.refused.push(...refused);
    total.changed.push(...changed);
  }
  log(`${server.pkg}: ${listed.length} tools`);
}
const inClients = values.clients
  ? await callInClients(tools, { each: values.each, client: values.client ?? '', random, log })
  : undefined;
const report = { seed, servers: servers.length, tools: tools.length, ...total, ...inClients };
process.stdout.write(`${JSON.stringify(report, null, 2)}\n`);
const isRight = total.refused.length + total.changed.length === 0 && inClients?.isRight !== false;
process.exitCode = tools.length > 0 && isRight ? 0 : 1;

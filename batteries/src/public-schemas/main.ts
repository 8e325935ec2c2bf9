import { readCommandLine, seedOr } from '@agent-rental/test/support/command-line/options';
import { Random } from '@agent-rental/test/support/random';
import { judgeTool, type Verdict } from './judge-tool.js';
import { listTools } from './list-tools.js';
import { PUBLIC_SERVERS } from './servers.js';

const { values } = readCommandLine({
  command: 'npm run battery -- public-schemas',
  summary:
    'Lists the tools of public MCP servers, and publishes their schemas as those of listings. Ends with 1 when one refuses or ' +
    'changes a value that its own schema takes.',
  options: {
    values: { kind: 'number', text: 'how many values to make for each tool', default: 60 },
    seed: { kind: 'number', text: 'of the values; random by default', least: 0 },
  },
});
const seed = seedOr(values.seed);
const random = new Random(seed);
const total: Verdict = { values: 0, refused: [], changed: [] };
let tools = 0;
for (const server of PUBLIC_SERVERS) {
  const listed = await listTools(server);
  tools += listed.length;
  for (const tool of listed) {
    const { values: made, refused, changed } = judgeTool(tool, values.values, random);
    total.values += made;
    total.refused.push(...refused);
    total.changed.push(...changed);
  }
  process.stderr.write(`${server.pkg}: ${listed.length} tools\n`);
}
const report = { seed, servers: PUBLIC_SERVERS.length, tools, ...total };
process.stdout.write(`${JSON.stringify(report, null, 2)}\n`);
process.exitCode = tools > 0 && total.refused.length + total.changed.length === 0 ? 0 : 1;

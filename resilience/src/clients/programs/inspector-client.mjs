// The Inspector's command line: lists the tools, then calls them as a user would who reads the output.
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const cli = fileURLToPath(
  new URL('./node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js', import.meta.url),
);
const inspect = (...args) => {
  const header = `Authorization: Bearer ${process.env.TOKEN}`;
  const all = [cli, '--cli', process.env.MCP_URL, '--transport', 'http', '--header', header, ...args];
  const { stdout, stderr } = spawnSync(process.execPath, all, { encoding: 'utf8' });
  return `${stdout}${stderr}`;
};

inspect('--method', 'tools/list');
let { tool, args } = JSON.parse(process.env.WISH);
for (let turn = 0; turn < 20; turn += 1) {
  const said = inspect(
    '--method',
    'tools/call',
    '--tool-name',
    tool,
    '--tool-args-json',
    JSON.stringify(args),
  );
  process.stdout.write(said);
  if (said.includes('done with') || said.includes('isError')) break;
  if (!said.includes('is still running')) continue;
  [tool, args] = ['get_run', { run_id: /Run ([0-9a-f-]{36})/.exec(said)[1] }];
}

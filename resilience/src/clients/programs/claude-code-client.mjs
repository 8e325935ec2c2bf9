// `claude -p`, with a configuration as its documentation shows it.
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const config = {
  mcpServers: {
    rental: {
      type: 'http',
      url: process.env.MCP_URL,
      headers: { Authorization: `Bearer ${process.env.TOKEN}` },
    },
  },
};
writeFileSync('mcp.json', JSON.stringify(config));
// An install script, which did not run, links the package's command to this binary.
const binary = `./node_modules/@anthropic-ai/claude-code-${process.platform}-${process.arch}/claude`;
const args = ['-p', process.env.PROMPT, '--mcp-config', 'mcp.json', '--allowedTools', 'mcp__rental'];
const { status } = spawnSync(fileURLToPath(new URL(binary, import.meta.url)), args, {
  stdio: ['ignore', 'inherit', 'inherit'],
});
process.exitCode = status ?? 1;

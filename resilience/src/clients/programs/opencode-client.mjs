// `opencode run`, with a configuration as its documentation shows it.
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const config = {
  $schema: 'https://opencode.ai/config.json',
  provider: {
    scripted: {
      npm: '@ai-sdk/openai-compatible',
      options: { baseURL: process.env.OPENAI_BASE_URL, apiKey: process.env.OPENAI_API_KEY },
      models: { scripted: { name: 'Scripted' } },
    },
  },
  mcp: {
    rental: {
      type: 'remote',
      url: process.env.MCP_URL,
      headers: { Authorization: `Bearer ${process.env.TOKEN}` },
    },
  },
};
writeFileSync('opencode.json', JSON.stringify(config));
// An install script, which did not run, links the package's command to this binary.
const binary = `./node_modules/opencode-${process.platform}-${process.arch}/bin/opencode`;
const args = ['run', '--model', 'scripted/scripted', process.env.PROMPT];
const { status } = spawnSync(fileURLToPath(new URL(binary, import.meta.url)), args, {
  stdio: ['ignore', 'inherit', 'inherit'],
});
process.exitCode = status ?? 1;

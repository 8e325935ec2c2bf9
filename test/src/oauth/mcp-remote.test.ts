import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { npmTool } from '@agent-rental/stand-in/npm-tool';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { expect, inject, onTestFinished, test } from 'vitest';
import { browserPath, openBrowser } from '../support/browser/browser.js';
import { IS_QUICK } from '../support/form.js';
import { attach } from '../support/marketplace.js';
import { consentInBrowser } from '../support/oauth/consent.js';
import { newParticipant } from '../support/participant.js';

/** The bridge by which clients that start programs alone reach servers on the web. */
const MCP_REMOTE = '0.15.1';

// It installs the client from npm.
test.runIf(!IS_QUICK && browserPath !== undefined)(
  `mcp-remote ${MCP_REMOTE} logs in with the address alone, and again without asking anybody [ID-41]`,
  { timeout: 400_000 },
  async () => {
    const marketplace = await attach(inject('stateDir'));
    const person = await newParticipant(marketplace);
    const program = await npmTool('mcp-remote', MCP_REMOTE, 'dist/proxy.js');
    const home = await mkdtemp(join(tmpdir(), 'agent-rental-mcp-remote-'));
    onTestFinished(() => rm(home, { recursive: true, maxRetries: 3 }));
    const browser = await openBrowser();
    onTestFinished(() => browser.close());

    /** A session through the bridge, as a desktop client starts it. Gives the page that it sends its user to. */
    async function begin() {
      const transport = new StdioClientTransport({
        command: process.execPath,
        args: [program, marketplace.dev.mcp_url],
        // No program that opens a browser of this machine.
        env: { HOME: home, MCP_REMOTE_CONFIG_DIR: home, PATH: '', BROWSER: '/bin/true' },
        stderr: 'pipe',
      });
      let told = '';
      const page = new Promise<string>((resolve) => {
        transport.stderr?.on('data', (chunk: Buffer) => {
          told += chunk.toString();
          const [url] = /http:\/\/\S+\/dashboard\/consent\?\S+(?=\s)/.exec(told) ?? [];
          if (url !== undefined) resolve(url);
        });
      });
      const client = new Client({ name: 'desktop', version: '1.0.0' });
      onTestFinished(() => client.close());
      return { client, page, connected: client.connect(transport, { timeout: 120_000 }), told: () => told };
    }

    const first = await begin();
    const asked = await consentInBrowser(browser, await first.page, person.wallet);
    await first.connected;
    expect(asked.messages).toHaveLength(1);
    expect(await first.client.callTool({ name: 'list_rentals' })).not.toMatchObject({ isError: true });
    await first.client.close();

    const second = await begin();
    await second.connected;
    expect(await second.client.callTool({ name: 'list_rentals' })).not.toMatchObject({ isError: true });
    expect(second.told()).not.toContain('/dashboard/consent?');
    expect((await person.client.listApiKeys()).api_keys).toHaveLength(1);
  },
);

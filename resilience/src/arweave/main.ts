import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { publishProgram, rentAgent } from '@agent-rental/test/support/agents/agents';
import { readCommandLine } from '@agent-rental/test/support/command-line/options';
import { startMarketplace } from '@agent-rental/test/support/marketplace';
import { newParticipant } from '@agent-rental/test/support/participant';
import { installNetwork } from './install.js';

/** The JSON that the network's program prints. */
interface Network {
  readonly gateway: string;
  readonly liar: string;
  readonly bundler: string;
  readonly reader: string;
  readonly key: object;
  readonly files: readonly { name: string; id: string; length: number; sha256: string }[];
}

/** An agent that returns the length of its input, and the end of it. */
const AGENT = `
const text = typeof input === 'string' ? input : JSON.stringify(input);
return { length: text.length, end: text.slice(-12) };
`;

readCommandLine({
  command: 'npm run battery -- arweave',
  summary:
    'Tests a marketplace that stores its manifests on Arweave alone, here arlocal and a bundler. Reads the manifests with ' +
    'Arweave’s client. Runs an agent on files of other clients, while one gateway lies. Ends with 1 when a document or a ' +
    'file is not as it was written. Needs the network and a C++ compiler.',
  options: {},
});
const log = (line: string) => process.stderr.write(`${line}\n`);
const faults: string[] = [];
const check = (what: string, isRight: boolean) => {
  log(`${what}: ${isRight ? 'right' : 'WRONG'}`);
  if (!isRight) faults.push(what);
};

log('installing arlocal');
const program = await installNetwork();
const folder = await mkdtemp(join(tmpdir(), 'agent-rental-arweave-'));
const child = spawn(process.execPath, [program, folder], {
  // arlocal writes a log to its working directory.
  cwd: folder,
  stdio: ['pipe', 'pipe', 'inherit'],
});
try {
  const network = await Promise.race([describedIn(createInterface({ input: child.stdout })), ended()]);
  const keyFile = join(folder, 'key.json');
  await writeFile(keyFile, JSON.stringify(network.key), { mode: 0o600 });
  const marketplace = await startMarketplace(join(folder, 'state'), {
    CONTENT_STORES: 'arweave',
    ARWEAVE_BUNDLER_URL: `${network.bundler}/v1`,
    ARWEAVE_GATEWAY_URLS: `${network.liar},${network.gateway}`,
    ARWEAVE_KEY_FILE: keyFile,
  });
  try {
    const creator = await newParticipant(marketplace);
    const renter = await newParticipant(marketplace);
    const agentId = await publishProgram(marketplace, creator, AGENT);
    await readManifests(network, [agentId, ...marketplace.dev.listings.map(({ id }) => id)], (id) =>
      renter.client.getListing(id),
    );
    await rentAgent(renter, agentId);
    for (const { name, id, length, sha256 } of network.files) {
      const run = await renter.client.execute({ agent_id: agentId, task: 'look', input_uri: `ar://${id}` });
      const output = Object(run.output) as { length?: unknown };
      check(`a ${name} of ${length} bytes as input (${sha256.slice(0, 8)})`, output.length === length);
    }
  } finally {
    await marketplace.stop();
  }
} finally {
  child.stdin.end();
  child.kill();
  await rm(folder, { recursive: true, force: true });
}
process.exitCode = faults.length === 0 ? 0 : 1;

/** Finds the program's JSON among the lines that arlocal writes. */
async function describedIn(lines: AsyncIterable<string>): Promise<Network> {
  for await (const line of lines) if (line.startsWith('{')) return JSON.parse(line) as Network;
  throw new Error('The network did not start.');
}

async function readManifests(
  { reader }: Network,
  listings: readonly string[],
  getListing: (id: string) => Promise<{ metadata_uri: string; title: string }>,
): Promise<void> {
  const uploaded = (await (await fetch(`${reader}/taken`)).json()) as string[];
  for (const listing of listings) {
    const { metadata_uri: uri } = await getListing(listing);
    const id = uri.replace('ar://', '');
    const bytes = Buffer.from(await (await fetch(`${reader}/read/${id}`)).arrayBuffer());
    const document = JSON.parse(bytes.toString('utf8')) as { name?: string };
    const isOnce = uploaded.filter((one) => one === id).length === 1;
    const isOf = document.name !== undefined && listing.startsWith(document.name);
    const hash = createHash('sha256').update(bytes).digest('hex').slice(0, 8);
    check(`${uri} is the manifest of ${listing}, sent once (${hash})`, isOf && isOnce);
  }
}

async function ended(): Promise<never> {
  const [code] = (await once(child, 'exit')) as [number | null];
  throw new Error(`The network ended with ${code}.`);
}

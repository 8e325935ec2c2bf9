// Arweave on one machine:
// - arlocal;
// - a bundler with the upload call of Turbo and Irys;
// - files of other clients;
// - a gateway that lies.
// Prints their addresses as one line of JSON, and ends with its standard input.
import { createHash, generateKeyPairSync, randomBytes } from 'node:crypto';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import { join } from 'node:path';

// The ES modules of these packages do not load in Node.
const load = createRequire(import.meta.url);
const Arweave = load('arweave');
const arbundles = load('@dha-team/arbundles');
const { default: ArLocal } = load('arlocal');
const { ArweaveSigner, bundleAndSignData, createData, DataItem, EthereumSigner } = arbundles;

const listen = async (answer) => {
  const server = createServer((request, response) =>
    answer(request, response).catch((error) => {
      process.stderr.write(`${error.stack}\n`);
      response.writeHead(500).end();
    }),
  );
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${server.address().port}`;
};
const bodyOf = async (request) => {
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  return Buffer.concat(chunks);
};

const probe = createServer();
await new Promise((resolve) => probe.listen(0, '127.0.0.1', resolve));
const { port } = probe.address();
await new Promise((resolve) => probe.close(resolve));
const gateway = `http://127.0.0.1:${port}`;
const chain = new ArLocal(port, false, join(process.argv[2], 'arlocal'));
await chain.start();

const client = Arweave.init({ protocol: 'http', host: '127.0.0.1', port });
const keyOf = () => generateKeyPairSync('rsa', { modulusLength: 4096 }).privateKey.export({ format: 'jwk' });
const bundlerKey = keyOf();
await fetch(`${gateway}/mint/${await client.wallets.jwkToAddress(bundlerKey)}/1000000000000000`);

/** Uploads a transaction to the chain chunk by chunk, as Arweave's client does. */
const bring = async (transaction) => {
  await client.transactions.sign(transaction, bundlerKey);
  const uploader = await client.transactions.getUploader(transaction);
  while (!uploader.isComplete) await uploader.uploadChunk();
  await fetch(`${gateway}/mine`);
  return transaction.id;
};
const bundle = async (items) => {
  const whole = await bundleAndSignData(items, new ArweaveSigner(bundlerKey));
  const transaction = await client.createTransaction({ data: whole.getRaw() }, bundlerKey);
  transaction.addTag('Bundle-Format', 'binary');
  transaction.addTag('Bundle-Version', '2.0.0');
  return bring(transaction);
};

const taken = [];
const bundler = await listen(async (request, response) => {
  const bytes = await bodyOf(request);
  if (request.method !== 'POST' || request.url !== '/v1/tx/arweave') return response.writeHead(404).end();
  if (!(await DataItem.verify(bytes))) return response.writeHead(400).end('Invalid Data Item!');
  const item = new DataItem(bytes);
  // Keeps the item's signature: the bundle would sign it again.
  await item.setSignature(item.rawSignature);
  taken.push(item.id);
  await bundle([item]);
  return response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ id: item.id }));
});

/** Forwards the gateway's answers, with one byte of all data changed. */
const liar = await listen(async (request, response) => {
  const body = request.method === 'POST' ? await bodyOf(request) : undefined;
  const answer = await fetch(`${gateway}${request.url}`, {
    method: request.method,
    body,
    headers: { 'content-type': 'application/json' },
  });
  const bytes = Buffer.from(await answer.arrayBuffer());
  if (!/^\/(?:tx\/|graphql)/.test(request.url) && bytes.length > 0) bytes[0] ^= 1;
  response.writeHead(answer.status, { 'content-type': answer.headers.get('content-type') ?? '' }).end(bytes);
});

/** `/taken`: the ids that the bundler took. `/read/<id>`: the data that Arweave's client reads from the chain. */
const reader = await listen(async (request, response) => {
  if (request.url === '/taken') return response.end(JSON.stringify(taken));
  const data = await client.transactions.getData(request.url.slice('/read/'.length), { decode: true });
  return response.end(Buffer.from(data));
});

const large = Buffer.alloc(700_000, 'The quick brown fox. ');
const transaction = await client.createTransaction({ data: large }, bundlerKey);
transaction.addTag('Content-Type', 'text/plain');
const signer = new EthereumSigner(randomBytes(32).toString('hex'));
const foreign = createData('An item of a wallet of Ethereum.', signer, {
  tags: [{ name: 'Content-Type', value: 'text/plain' }],
});
await foreign.sign(signer);
await bundle([foreign]);
const files = [
  { name: 'transaction', id: await bring(transaction), bytes: large },
  { name: 'data item', id: foreign.id, bytes: foreign.rawData },
].map(({ name, id, bytes }) => ({
  name,
  id,
  length: bytes.length,
  sha256: createHash('sha256').update(bytes).digest('hex'),
}));

process.stdout.write(`${JSON.stringify({ gateway, liar, bundler, reader, key: keyOf(), files })}\n`);
process.stdin.on('end', () => process.exit(0)).resume();

/**
 * The example marketplace: the machines of a creator and a renter, played by one process that uses public packages only.
 * The server forks it at the embedded start. It publishes the example agents and rents them. It serves the connected agent
 * and the offline model until the server goes away.
 *
 * Every step first looks for earlier results, so the process may be ended at any point and started again.
 */
import { randomBytes } from 'node:crypto';
import { join, resolve } from 'node:path';
import { createClient } from '@agent-rental/sdk';
import type { ServedAgent } from '@agent-rental/sdk/creator';
import { keypairSigner } from '@agent-rental/sdk/solana';
import { Connection, type Keypair } from '@solana/web3.js';
import {
  contractDates,
  exampleAgents,
  inputPath,
  sampleInput,
  serveContractDates,
  type ExampleAgent,
} from './agents/index.js';
import { openExamplesFolder, type ExamplesFolder } from './marketplace/examples-folder.js';
import { serverChannel, type PublishedExample, type ServerChannel } from './marketplace/messages.js';
import { stablePort, startOnPort } from './marketplace/ports.js';
import { ensurePublished } from './marketplace/publish.js';
import { ensureApiKey, ensureRented } from './marketplace/renter.js';
import {
  chooseModel,
  isLoopback,
  readSettings,
  type ModelChoice,
  type Settings,
} from './marketplace/settings.js';
import { fundWallet, loadWallet } from './marketplace/wallets.js';
import { OFFLINE_MODEL_ID, serveOfflineModel } from './offline-model/index.js';

const OFFLINE_KEY_FILE = 'offline-model.key';
const WEBHOOK_SECRET_FILE = 'contract-dates.webhook-secret';
const WALLET_FILES = { creator: 'creator.json', renter: 'renter.json' };

async function runMarketplace(channel: ServerChannel): Promise<void> {
  const settings = readSettings(process.env);
  const folder = await openExamplesFolder(resolve(join(settings.stateDir, 'examples')));
  const step = (text: string) => channel.send({ type: 'step', text });

  const modelKey = (await folder.read(OFFLINE_KEY_FILE)) ?? randomBytes(24).toString('base64url');
  await folder.write(OFFLINE_KEY_FILE, modelKey);
  const modelPort = await stablePort(folder, OFFLINE_MODEL_ID);
  const offline = await startOnPort(OFFLINE_MODEL_ID, modelPort, () =>
    serveOfflineModel({ port: modelPort, apiKey: modelKey }),
  );
  const connected = await connectedAgent(folder);
  const choice = chooseModel(process.env, { baseUrl: offline.baseUrl, apiKey: modelKey });
  const endpoint = choice.model.endpoint_url;
  const urls = new Set([offline.baseUrl, connected.url]);
  if (endpoint !== undefined && isLoopback(endpoint)) urls.add(endpoint);
  await channel.send({ type: 'loopback', urls: [...urls] });
  await channel.received('loopback-allowed');
  await step(`Model of the example agents: ${choice.label}`);

  const connection = new Connection(settings.rpcUrl, 'finalized');
  const open = async (file: string) => {
    const wallet = await loadWallet(folder, file);
    if (await fundWallet(connection, wallet)) await step(`Airdropped SOL to ${wallet.publicKey.toBase58()}`);
    return participant(settings, wallet);
  };
  const creator = await open(WALLET_FILES.creator);
  const renter = await open(WALLET_FILES.renter);

  const listings: PublishedExample[] = [];
  for (const agent of exampleAgents) {
    const { listingId, isNew } = await ensurePublished(creator, folder, {
      agent,
      ...offerOf(agent, choice, connected.url),
      onWebhookSecret: connected.serveWith,
    });
    await step(isNew ? `Published ${listingId} (${agent.mode})` : `${listingId} is published`);
    await step(await ensureRented(renter, { id: listingId, rental_model: agent.terms.rental_model }));
    listings.push(await describeListing(folder, agent, listingId));
  }
  const apiKey = await ensureApiKey(renter, folder);
  await channel.send({
    type: 'ready',
    wallets: { creator: folder.path(WALLET_FILES.creator), renter: folder.path(WALLET_FILES.renter) },
    listings,
    api_key_file: apiKey.file,
    api_key: apiKey.key,
  });
}

function participant({ baseUrl, programId }: Settings, wallet: Keypair) {
  const signer = keypairSigner(wallet);
  return { signer, client: createClient({ baseUrl, signer, programId }) };
}

/**
 * The connected agent. It can be served once its webhook secret is known. Only the answer to its registration has the
 * secret, so it is stored first.
 */
async function connectedAgent(folder: ExamplesFolder) {
  const { name } = contractDates;
  const port = await stablePort(folder, name);
  let served: ServedAgent | undefined;
  const serve = async (webhookSecret: string) => {
    await served?.close();
    served = await startOnPort(`agent ${name}`, port, () => serveContractDates({ port, webhookSecret }));
  };
  const kept = await folder.read(WEBHOOK_SECRET_FILE);
  if (kept !== undefined) await serve(kept);
  return {
    url: `http://127.0.0.1:${port}/`,
    serveWith: async (secret: string) => {
      await folder.write(WEBHOOK_SECRET_FILE, secret);
      await serve(secret);
    },
  };
}

/** The manifest to register, and under what to remember it: another model makes another listing. */
function offerOf(agent: ExampleAgent, choice: ModelChoice, entrypointUrl: string) {
  if (agent.mode === 'connected') {
    return { manifest: agent.manifest(entrypointUrl), registrationKey: agent.name };
  }
  const manifest = agent.manifest(choice.model);
  const isOffline = choice.label === OFFLINE_MODEL_ID;
  const description = isOffline
    ? `${manifest.description} Driven by ${OFFLINE_MODEL_ID}, a stand-in for a language model.`
    : manifest.description;
  return {
    manifest: { ...manifest, description },
    modelKey: choice.key,
    registrationKey: `${agent.name} on ${choice.label}`,
  };
}

async function describeListing(
  folder: ExamplesFolder,
  agent: ExampleAgent,
  id: string,
): Promise<PublishedExample> {
  const request = { agent_id: id, task: agent.sampleTask, input: await sampleInput(agent) };
  const file = `${agent.name}.request.json`;
  await folder.write(file, JSON.stringify(request, null, 2));
  return {
    id,
    title: agent.terms.title ?? agent.name,
    rental_model: agent.terms.rental_model,
    sample_task: agent.sampleTask,
    sample_input_file: inputPath(agent.inputFiles[0]),
    sample_request_file: folder.path(file),
  };
}

/** An error and what caused it, in one line. */
function describeError(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error ? `${error.message} (${error.cause.message})` : error.message;
}

// Ctrl-C reaches every process of the terminal: the server drains first and then lets go of this one.
process.on('SIGINT', () => {});
process.on('SIGTERM', () => process.exit(0));
process.on('disconnect', () => process.exit(0));

const channel = serverChannel();
try {
  await runMarketplace(channel);
} catch (error) {
  await channel.send({ type: 'failed', message: describeError(error) });
  process.exit(1);
}

import {
  CREATOR_PAGE_PATH,
  OPERATOR_PAGE_PATH,
  OWN_AGENT_PAGE_PATH,
  PUBLISH_PAGE_PATH,
} from '@agent-rental/contract';
import type { FastifyInstance, FastifyReply } from 'fastify';
import type { ProtocolReader } from '../chain/index.js';
import { parseListingId } from '../listings/index.js';
import { creatorPage } from './pages/creator/creator-page.js';
import { ownAgentPage } from './pages/creator/own-agent-page.js';
import { operatorPage } from './pages/operator/operator-page.js';
import { publishPage } from './pages/creator/publish-page.js';
import type { PageChain } from './pages/page.js';
import type { WalletPageContext } from './pages/creator/wallet-page.js';
import { sendScriptedPage } from './send-page.js';

/** Adds the pages of creators and of the operator. They are the same for everyone, and load a wallet's data by the API. */
export function addCreatorPages(
  app: FastifyInstance,
  {
    origin,
    chain,
    programId,
    protocol,
  }: { origin: () => string; chain: PageChain; programId: string; protocol: Pick<ProtocolReader, 'current'> },
): void {
  const config = { auth: 'none' } as const;
  const send = async (reply: FastifyReply, render: (context: WalletPageContext) => string) => {
    const terms = await protocol.current().catch(() => undefined);
    return sendScriptedPage(reply, (nonce) => render({ baseUrl: origin(), chain, programId, terms, nonce }));
  };
  app.get(CREATOR_PAGE_PATH, { config }, async (_, reply) => send(reply, creatorPage));
  app.get(OPERATOR_PAGE_PATH, { config }, async (_, reply) => send(reply, operatorPage));
  app.get(PUBLISH_PAGE_PATH, { config }, async (_, reply) => send(reply, publishPage));
  app.get<{ Params: { listing_id: string } }>(OWN_AGENT_PAGE_PATH, { config }, async ({ params }, reply) => {
    const listingId = parseListingId(params.listing_id);
    return send(reply, (context) => ownAgentPage(listingId, context));
  });
}

import { A2A_AGENT_CARD_PATH, A2A_AGENT_PATH, A2A_PATH } from './service-endpoints.js';

type Schema = Record<string, unknown>;

const A2A = {
  summary: 'The Agent2Agent protocol (A2A)',
  description:
    'JSON-RPC in the versions 1.0 and 0.3, with the same bearer as `/v1`. The cards of the marketplace and of listings name ' +
    'these addresses. The protocol defines the messages.',
};

/**
 * The paths of A2A.
 *
 * @param listing the parameter of a path
 * @param others answers of a card beside the card
 */
export function describeA2a(listing: Schema, others: Record<string, Schema>): Record<string, Schema> {
  const pathOf = (path: string) => path.replace(':listing_id', '{listing_id}');
  const schema = { $ref: '#/components/schemas/AgentCard' };
  const card = {
    operationId: 'getListingAgentCard',
    summary: 'The A2A card of a listing on sale',
    description: 'Clients of version 0.3, which send no `A2A-Version`, get the form of that version.',
    security: [],
    parameters: [listing, { name: 'A2A-Version', in: 'header', schema: { type: 'string' }, example: '1.0' }],
    responses: {
      ...others,
      200: {
        description: 'Success',
        headers: others['304']?.['headers'],
        content: { 'application/json': { schema } },
      },
    },
  };
  return { [A2A_PATH]: A2A, [pathOf(A2A_AGENT_PATH)]: A2A, [pathOf(A2A_AGENT_CARD_PATH)]: { get: card } };
}

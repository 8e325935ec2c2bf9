import { operations, type OperationId } from '@agent-rental/contract';

export interface Known {
  readonly wallet: string;
  readonly listingId: string;
  readonly ownId: string;
  readonly jobId: string;
  readonly runId: string;
  readonly fileId: string;
  readonly webhookId: string;
  /** A request for approval from the wallet's API key. */
  readonly approvalId: string;
}

type ReadId = {
  [Id in OperationId]: (typeof operations)[Id]['method'] extends 'GET' ? Id : never;
}[OperationId];

/** The ids and queries of every read of the API: first and later pages, with and without each filter. */
const READS: Record<ReadId, (known: Known) => readonly string[]> = {
  getChallenge: ({ wallet }) => [`?wallet=${wallet}`],
  getNetwork: () => [''],
  listApiKeys: () => [''],
  listApprovals: () => [''],
  getApproval: ({ approvalId }) => [approvalId],
  searchListings: () => [
    '',
    '?sort=newest&limit=100&offset=1000',
    ...['rating', 'price_asc', 'price_desc'].map((sort) => `?sort=${sort}&offset=200`),
    '?category=finance',
    '?category=legal&rental_model=per_query&sort=price_asc&offset=100',
    '?min_price=0.001&max_price=0.002',
    '?min_rating=4.8',
    '?q=report',
    '?q=report&sort=rating&category=finance&min_price=0.001',
    '?q=word',
    '?q=answers+report',
    '?q=reprot',
  ],
  listAgents: () => ['?limit=100', '?limit=20&offset=100'],
  getListing: ({ listingId }) => [listingId],
  listVersions: ({ listingId }) => [listingId],
  listReviews: ({ listingId }) => [listingId],
  listCredentials: () => [
    '?limit=100',
    '?limit=100&offset=2000',
    ...['active', 'expired', 'low_balance', 'current'].map((status) => `?status=${status}`),
    '?status=active&include=listing&limit=20&offset=1000',
  ],
  verifyCredential: ({ listingId }) => [listingId],
  getOperatorOverview: () => [''],
  listOperatorReviews: () => [''],
  listOperatorReports: () => [''],
  listOperatorActions: () => [''],
  findForOperator: ({ wallet, listingId, runId }) => [wallet, listingId, runId].map((id) => `?id=${id}`),
  getEarnings: () => ['', '?limit=100&offset=200'],
  listAgentRuns: ({ ownId }) => [ownId],
  getAgentStats: ({ ownId }) => [ownId, `${ownId}?window=7d`, `${ownId}?window=30d`],
  getAgentsStats: () => ['', '?window=30d'],
  getJob: ({ jobId }) => [jobId],
  getRun: ({ runId }) => [runId],
  listTools: () => ['', '?limit=100&offset=500', '?format=anthropic'],
  getFile: ({ fileId }) => [fileId],
  listRuns: ({ listingId }) => ['', '?limit=100&offset=5000', `?agent_id=${listingId}`],
  listEvents: () => ['', '?types=run.completed&limit=100', '?after=1', '?order=newest&before=1'],
  getEventSettings: () => [''],
  listWebhooks: () => [''],
  listDeliveries: ({ webhookId }) => [webhookId, `${webhookId}?limit=1`],
  getEmail: () => [''],
  getSpending: () => ['', '?window=30d'],
  getReceipt: ({ runId }) => [runId],
};

export function readPaths(known: Known): string[] {
  return (Object.keys(READS) as ReadId[]).flatMap((id) =>
    READS[id](known).map((rest) => {
      const [value = '', query] = rest.split('?');
      const path = operations[id].path.replace(/:\w+/, value);
      return query === undefined ? path : `${path}?${query}`;
    }),
  );
}
